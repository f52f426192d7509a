/** A setting of the process: a row of the table in `config.ts`. */
export interface Setting {
  variable: string;
  kind: "text" | "number" | "secret";
  default: string | number | undefined;
  meaning: string;
  /** The least that a number may be; left out, 0. */
  least?: number;
  /** The only values there are; left out, any text will do. */
  oneOf?: readonly string[];
}
