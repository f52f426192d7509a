import { BadRequest } from "../../lib/errors.ts";

export type { Language } from "./languages.ts";

/** A JSON Schema (draft 2020-12) fragment. */
export type Schema = Record<string, unknown>;

/** How one parameter of `main` or `preprocessor` takes its value out of the arguments object. */
export interface ParameterBinding {
  name: string;
  /**
   * named: by key · whole: the arguments object itself · rest: an array spread at the end · positional: bash `$n` ·
   * pinned: always `default`, whatever the caller says
   */
  kind: "named" | "whole" | "rest" | "positional" | "pinned";
  is_date?: boolean;
  is_bytes?: boolean;
  /** The default that a shell's or a query's parameter has (other languages keep their own defaults). */
  default?: unknown;
  /** Where a query's parameter stands in its text: `$1`, `?` or `:name`. */
  placeholder?: string;
  /** The type that a query's parameter is declared with. */
  sql_type?: string;
}

export interface Parameter extends ParameterBinding {
  schema: Schema;
  /** May be left out by the caller. */
  optional: boolean;
}

export interface Signature {
  parameters: Parameter[];
  has_main: boolean;
  /** What the function `preprocessor` takes; undefined when there is none. */
  preprocessor: Parameter[] | undefined;
}

/** An npm package a script needs. */
export interface Dependency {
  name: string;
  /** A version or range; `latest` when the script names none. */
  version: string;
}

/** The packages that a script needs, as the package client of its language is asked for them. */
export type Packages =
  | { client: "npm"; dependencies: Dependency[] }
  | {
      client: "pip";
      /** Lines of a requirements file. */
      requirements: string[];
      /** The Python version that the script asks for, as `3.12`. */
      python: string | undefined;
    };

export interface ScriptAnalysis {
  signature: Signature;
  /** JSON Schema of the arguments object. */
  schema: Schema;
  /** undefined: none. */
  packages: Packages | undefined;
  /** Names of scripts of the workspace, as the source writes them: see `importedPaths`. */
  imports: string[];
  /** What the deployer should know, though the script is stored. */
  warning?: string;
}

/** The source does not parse. */
export class SyntaxFault extends BadRequest {
  override readonly name: string = "SyntaxFault";
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
  /** What is wrong, without the place. */
  readonly detail: string;
  constructor(line: number, column: number, detail: string) {
    super(`Syntax error at line ${line}, column ${column}: ${detail}`);
    this.detail = detail;
    this.line = line;
    this.column = column;
  }
}

/** The schema of the arguments object of these parameters. */
export function toArgumentsSchema(parameters: Parameter[]): Schema {
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
