/** What is run in a sandbox, within which limits, and what comes of it. */

export interface Limits {
  /** How long the code itself may run; waiting for functions is not counted. */
  time_ms: number;
  /** At least 16, since the interpreter is in there. */
  memory_mb: number;
  /** How deep calls and data may be nested. */
  stack_kb: number;
  /** How often functions may be called. */
  calls: number;
}

/** Its arguments as a JSON array, and what comes of it as JSON; undefined is undefined. */
export type TextFunction = (args: string) => Promise<string | undefined>;

export interface SandboxedFunction {
  /** An async function, as text. */
  source: string;
  /** Its first arguments, as JSON; undefined is undefined. */
  values: (string | undefined)[];
  /** Its further arguments. What they throw becomes an exception in the sandbox. */
  functions: TextFunction[];
}

/**
 * The value as JSON, undefined for undefined. A failure's cause is an error as text, `TypeError: not a function`, or
 * names the limit that was met.
 */
export type Outcome =
  | { ok: true; text: string | undefined }
  | { ok: false; cause: string; overran?: boolean };

export function overran({ time_ms }: Limits): Outcome {
  return { ok: false, cause: `The limit of ${time_ms} ms of running time was met`, overran: true };
}
