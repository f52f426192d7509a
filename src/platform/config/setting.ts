/** A setting of the process: a row of the table in `config.ts`. */
export interface Setting {
  /** Environment variable: SVC_ and a name. */
  variable: string;
  /** Another name of it, which existing installations use. */
  also?: string;
  kind: "text" | "number" | "secret";
  default: string | number | undefined;
  meaning: string;
  /** Minimum of a number; default 0. */
  least?: number;
  /** Allowed values; absent: any text. */
  oneOf?: readonly string[];
}

/** Reads an environment variable by its name, else by the other name that it has. */
export function readVariable(
  environment: Record<string, string | undefined>,
  variable: string,
  also: string | undefined,
): string | undefined {
  return environment[variable] || (also === undefined ? undefined : environment[also]) || undefined;
}
