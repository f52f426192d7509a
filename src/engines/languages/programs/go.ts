import type { Parameter, ParameterSchema } from "../types.ts";
import { createGoBuild } from "./go-modules.ts";
import { blankComments, type LexicalRules, readBracket, splitList } from "./source-text.ts";
import type { ProgramAdapter } from "./types.ts";

const RULES: LexicalRules = {
  line_comments: ["//"],
  block_comments: [["/*", "*/"]],
  quotes: '"`',
  escape: "\\",
};

/**
 * Folder of the package `script` below GOPATH. Go's module mode is off, because modules need versions and a proxy.
 */
const FOLDER = "go/src/script";

export const goAdapter: ProgramAdapter = {
  extension: "go",
  tool: "go",
  install: "install Go (Debian: golang-go)",
  locate: ["env", "GOROOT"],
  program: "bin/go",
  syntax_check: {
    command: ["gofmt"],
    error: /^<standard input>:(?<line>\d+):(?<column>\d+): (?<message>.*)$/m,
  },
  source_name: /(?:go\/src\/script\/)?inner\/main\.go/g,
  parse(content) {
    const source = blankComments(content, RULES);
    const main = /^func\s+main\s*\(/m.exec(source);
    const list = main && readBracket(source, main.index + main[0].length - 1, RULES);
    return typeof list === "string" ? parseParameters(list) : undefined;
  },
  findPackages,
  packages: createGoBuild(findPackages, toInner, toNames),
  run: {
    wrappers: { [`${FOLDER}/main.go`]: "main.go" },
    files: (content, parameters) => ({
      [`${FOLDER}/inner/main.go`]: toInner(content),
      [`${FOLDER}/names.go`]: toNames(parameters),
    }),
    // Other compiler flags would recompile the standard library.
    argv: ["build", "-ldflags=-s -w", "-o", "program", "script"],
    environment: {
      CGO_ENABLED: "0",
      GO111MODULE: "off",
      GOTOOLCHAIN: "local",
    },
  },
};

/** Lists the imports that are no packages of the standard library. */
function findPackages(content: string): string[] {
  const source = blankComments(content, RULES);
  const lines = [...source.matchAll(/^import\s*(?:\(([^)]*)\)|(.*)$)/gm)].map(([, many, one]) => many ?? one);
  return lines.flatMap((text) =>
    [...text!.matchAll(/"([^"]+)"/g)].map(([, path]) => path!).filter((path) => /^[^/]*\./.test(path)),
  );
}

/**
 * Converts a script to the package that the wrapper imports. The wrapper reaches `main` through a variable in the last
 * line, so that positions in messages stay the same.
 */
function toInner(content: string): string {
  return `${content.replace(/^package\s+\w+/m, "package inner")}\nvar EntryPoint interface{} = main\n`;
}

function toNames(parameters: readonly { name: string }[]): string {
  return `package main\n\nvar names = []string{${parameters.map(({ name }) => JSON.stringify(name)).join(", ")}}\n`;
}

/** Parses `x, y int, z *T`: a name without a type has the next name's type. */
function parseParameters(list: string): Parameter[] {
  let type = "";
  return splitList(list, RULES)
    .reverse()
    .map((item): Parameter => {
      const [name = item] = /^\w+/.exec(item) ?? [];
      type = item.slice(name.length).trim() || type;
      const optional = type.startsWith("*");
      return { name, kind: "named", schema: toSchema(optional ? type.slice(1) : type), optional };
    })
    .reverse();
}

const SCHEMAS: Record<string, ParameterSchema> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  float32: { type: "number" },
  float64: { type: "number" },
  "[]byte": { type: "string", contentEncoding: "base64" },
  "time.Time": { type: "string", format: "date-time" },
  any: {},
  "interface{}": {},
};

function toSchema(type: string): ParameterSchema {
  const known = SCHEMAS[type.replace(/\s/g, "")];
  if (known) return { ...known };
  if (/^(u?int(8|16|32|64)?|byte|rune)$/.test(type)) return { type: "integer" };
  if (type.startsWith("[]")) return { type: "array", items: toSchema(type.slice(2).trim()) };
  if (type.startsWith("*")) return toSchema(type.slice(1).trim());
  return type.startsWith("struct") ? toObjectSchema(type) : { type: "object" };
}

/** Parses the fields of `struct { A string; B int }`; names come from their `json` tags. */
function toObjectSchema(type: string): ParameterSchema {
  const fields = splitList(readBracket(type, type.indexOf("{"), RULES) ?? "", RULES, ";\n");
  const properties: Record<string, ParameterSchema> = {};
  for (const field of fields) {
    const [, name, written] = /^(\w+)\s+([^"`]+)/.exec(field) ?? [];
    if (name && written) properties[/json:"([\w-]+)/.exec(field)?.[1] ?? name] = toSchema(written.trim());
  }
  return { type: "object", properties };
}
