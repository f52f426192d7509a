import { BadRequest } from "../../lib/errors.ts";

import type { ProgramLanguage } from "./languages.ts";

export type { Language } from "./languages.ts";

/** A JSON Schema (draft 2020-12) fragment. */
export type ParameterSchema = Record<string, unknown>;

/** How one parameter of `main` or `preprocessor` gets its value from the arguments object. */
export interface ParameterBinding {
  name: string;
  /**
   * - named: by key
   * - whole: the arguments object itself
   * - rest: an array spread at the end
   * - positional: bash `$n`
   * - pinned: always `default`, whatever the caller passes
   */
  kind: "named" | "whole" | "rest" | "positional" | "pinned";
  is_date?: boolean;
  is_bytes?: boolean;
  /** Default of a shell's or query's parameter; other languages apply their own. */
  default?: unknown;
  /** A query parameter's placeholder in its text: `$1`, `?` or `:name`. */
  placeholder?: string;
  /** Declared type of a query's parameter. */
  sql_type?: string;
}

export interface Parameter extends ParameterBinding {
  schema: ParameterSchema;
  /** The caller may omit it. */
  optional: boolean;
}

export interface Signature {
  parameters: Parameter[];
  has_main: boolean;
  /** Parameters of the function `preprocessor`; undefined if there is none. */
  preprocessor: Parameter[] | undefined;
}

/** An npm package required by a script. */
export interface Dependency {
  name: string;
  /** Version or range; `latest` if the script names none. */
  version: string;
}

/** Packages required by a script, in the form of its language's package client. */
export type Packages =
  | {
      client: "npm";
      dependencies: Dependency[];
      /** Why they cannot be installed. */
      problem?: string;
    }
  | {
      client: "pip";
      /** Lines of a requirements file. */
      requirements: string[];
      /** Required Python version, such as `3.12`. */
      python: string | undefined;
    }
  | {
      /** The package client of a language of `programs/table.ts`. */
      client: "program";
      language: ProgramLanguage;
      manifest: string;
    };

export interface ScriptAnalysis {
  signature: Signature;
  /** JSON Schema of the arguments object. */
  schema: ParameterSchema;
  /** Undefined if there are none. */
  packages: Packages | undefined;
  /** Imports of workspace scripts as written in the source; see `resolveLocalImport`. */
  imports: string[];
  /** Warning for the deployer; the script is stored all the same. */
  warning?: string;
}

/** The source has a syntax error. */
export class SyntaxFault extends BadRequest {
  override readonly name: string = "SyntaxError";
  /** Counted from 1, like the column. */
  readonly line: number;
  readonly column: number;
  /** Description without the position. */
  readonly detail: string;
  constructor(line: number, column: number, detail: string) {
    super(`Syntax error at line ${line}, column ${column}: ${detail}`);
    this.detail = detail;
    this.line = line;
    this.column = column;
  }
}

/** Returns the JSON Schema of the arguments object. */
export function toArgumentsSchema(parameters: Parameter[]): ParameterSchema {
  const whole = parameters.find((parameter) => parameter.kind === "whole");
  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  if (whole) {
    Object.assign(properties, whole.schema.properties);
    required.push(...((whole.schema.required as string[] | undefined) ?? []));
  }
  for (const parameter of parameters) {
    if (parameter.kind === "whole" || parameter.kind === "pinned") continue;
    properties[parameter.name] = parameter.schema;
    if (!parameter.optional) required.push(parameter.name);
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    order: Object.keys(properties),
    properties,
    required,
  };
}
