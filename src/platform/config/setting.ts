/** A setting of the process: a row of the table in `config.ts`. */
export interface Setting {
  variable: string;
  kind: "text" | "number" | "secret";
  default: string | number | undefined;
  meaning: string;
  /** Minimum of a number; default 0. */
  least?: number;
  /** Allowed values; absent: any text. */
  oneOf?: readonly string[];
}
