import type { Parameter, ParameterSchema } from "../types.ts";
import { blankComments, type LexicalRules, readBracket, readLiteral, splitList } from "./source-text.ts";
import type { ProgramAdapter } from "./types.ts";

const RULES: LexicalRules = {
  line_comments: ["#"],
  block_comments: [["<#", "#>"]],
  quotes: "\"'",
  escape: "`",
};

/** A script's `param` block declares its parameters; there is no `main`. */
export const powershellAdapter: ProgramAdapter = {
  extension: "ps1",
  tool: "pwsh",
  needs_own_entry: true,
  install: "install PowerShell 7 (pwsh)",
  locate: ["-NoProfile", "-Command", "(Get-Process -Id $PID).Path; $PSHOME"],
  parse(content) {
    const source = blankComments(content, RULES);
    const block = /^[ \t]*param\s*\(/im.exec(source);
    const list = block && readBracket(source, block.index + block[0].length - 1, RULES);
    return splitList(list ?? "", RULES).flatMap(parseParameter);
  },
  findPackages(content) {
    const source = blankComments(content, RULES);
    return [...source.matchAll(/^[ \t]*Import-Module\s+(?:-Name\s+)?([\w.-]+)/gim)]
      .map(([, name]) => name!)
      .filter((name) => !name.startsWith("Microsoft.PowerShell."));
  },
  run: {
    wrapper: "run.ps1",
    argv: (wrapper, file) => ["-NoProfile", "-NonInteractive", "-File", wrapper, file],
  },
};

function parseParameter(item: string): Parameter[] {
  const found = /^((?:\[[^\]]*(?:\[\])?\]\s*)*)\$(\w+)(?:\s*=\s*([\s\S]*))?$/.exec(item);
  if (!found) return [];
  const [, attributes = "", name, initial] = found;
  const types = [...attributes.matchAll(/\[([\w.]+(?:\[\])?)\]/g)].map(([, type]) => type!.toLowerCase());
  const schema = toSchema(types.at(-1));
  const value = readLiteral(initial);
  if (value !== undefined && value !== null) schema.default = value;
  const optional = initial !== undefined || !/mandatory/i.test(attributes);
  return [{ name: name!, kind: "named", schema, optional }];
}

function toSchema(type = "object"): ParameterSchema {
  if (type.endsWith("[]") || type === "array") return { type: "array" };
  if (/^(int|int32|int64|long|uint\d*)$/.test(type)) return { type: "integer" };
  if (/^(float|double|decimal|single)$/.test(type)) return { type: "number" };
  if (/^(bool|boolean|switch)$/.test(type)) return { type: "boolean" };
  if (type === "string") return { type: "string" };
  if (type === "datetime") return { type: "string", format: "date-time" };
  return /^(hashtable|pscustomobject)$/.test(type) ? { type: "object" } : {};
}
