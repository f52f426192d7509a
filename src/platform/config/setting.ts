/** A process setting: one row of the table in `config.ts`. */
export interface Setting {
  /** Environment variable: `SVC_` and a name. */
  variable: string;
  /** A second name of the variable, for existing installations. */
  also?: string;
  kind: "text" | "number" | "secret";
  default: string | number | undefined;
  meaning: string;
  /** Minimum of a number; default 0. */
  least?: number;
  /** Allowed values; absent: any text. */
  oneOf?: readonly string[];
}

/** Reads an environment variable by its name or its second name. */
export function readVariable(
  environment: Record<string, string | undefined>,
  variable: string,
  also: string | undefined,
): string | undefined {
  return environment[variable] || (also === undefined ? undefined : environment[also]) || undefined;
}
