/** What a thread that evaluates expressions is told, and tells. One evaluation at a time; types only. */
import type { Limits, Outcome } from "./limits.ts";

export type ToThread =
  | {
      type: "run";
      source: string;
      values: (string | undefined)[];
      /** How many functions it may call. */
      functions: number;
      limits: Limits;
    }
  /** What came of a call: JSON, or of one that failed the error. */
  | { type: "settle"; call: number; ok: true; text: string | undefined }
  | { type: "settle"; call: number; ok: false; name: string; message: string };

export type FromThread =
  /** The expression calls a function: `args` is a JSON array. */
  { type: "call"; call: number; which: number; args: string } | { type: "done"; outcome: Outcome };
