/** Inputs, limits and outcomes of sandboxed evaluations. */

export interface EvaluationLimits {
  /** Running time; waiting for functions does not count. */
  time_ms: number;
  /** At least 16, interpreter included. */
  memory_mb: number;
  /** Limits the nesting of calls and data. */
  stack_kb: number;
  /** Maximum number of function calls. */
  calls: number;
}

/** Takes arguments as a JSON array and returns a result as JSON; undefined stays undefined. */
export type TextFunction = (args: string) => Promise<string | undefined>;

export interface SandboxedFunction {
  /** Source of an async function. */
  source: string;
  /** Its first arguments as JSON; undefined stays undefined. */
  values: (string | undefined)[];
  /** Its further arguments. Their errors become exceptions in the sandbox. */
  functions: TextFunction[];
}

/**
 * The value as JSON (undefined stays undefined), or the cause of the failure: an error as text, such as `TypeError: not
 * a function`, or the exceeded limit.
 */
export type EvaluationOutcome =
  | { ok: true; text: string | undefined }
  | { ok: false; cause: string; overran?: boolean };

export function createTimeoutOutcome({ time_ms }: EvaluationLimits): EvaluationOutcome {
  return { ok: false, cause: `The limit of ${time_ms} ms of running time was met`, overran: true };
}
