/** Messages between the host and an evaluation thread, which runs one evaluation at a time. Types only. */
import type { EvaluationLimits, EvaluationOutcome } from "./limits.ts";

export type ToThread =
  | {
      type: "run";
      source: string;
      values: (string | undefined)[];
      /** Number of functions it may call. */
      functions: number;
      limits: EvaluationLimits;
    }
  /** Result of a call: JSON, or the error. */
  | { type: "settle"; call: number; ok: true; text: string | undefined }
  | { type: "settle"; call: number; ok: false; name: string; message: string };

export type FromThread =
  /** The expression calls a function; `args` is a JSON array. */
  { type: "call"; call: number; which: number; args: string } | { type: "done"; outcome: EvaluationOutcome };
