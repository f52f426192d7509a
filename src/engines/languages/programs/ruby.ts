import type { Parameter, ParameterSchema } from "../types.ts";
import { bundlerPackages, readGemfileBlock } from "./bundler.ts";
import { blankComments, type LexicalRules, readBracket, readLiteral, splitList } from "./source-text.ts";
import type { ProgramAdapter } from "./types.ts";

const RULES: LexicalRules = {
  line_comments: ["#"],
  block_comments: [["\n=begin", "\n=end"]],
  quotes: "\"'",
  escape: "\\",
};

/** Prints the program, its version, and what it reads: its libraries, not all else below its prefix. */
const LOCATE = `c = RbConfig::CONFIG
read = c.values_at("rubylibprefix", "rubyarchdir", "sitedir", "vendordir") + Dir[File.join(c["libdir"], "libruby*")]
puts RbConfig.ruby, c["ruby_version"], RbConfig.ruby, read.compact.select { |path| File.exist?(path) }`;

export const rubyAdapter: ProgramAdapter = {
  extension: "rb",
  tool: "ruby",
  install: "install Ruby (Debian: ruby)",
  locate: ["-e", LOCATE],
  syntax_check: {
    command: ["ruby", "--disable=gems", "-c"],
    error: /^-:(?: -:)?(?<line>\d+): (?<message>.*)$/m,
  },
  parse(content) {
    const source = blankComments(content, RULES);
    const main = /^def\s+main\b[ \t]*/m.exec(source);
    if (!main) return undefined;
    const start = main.index + main[0].length;
    const list =
      source[start] === "(" ? readBracket(source, start, RULES) : /^.*/.exec(source.slice(start))![0];
    return splitList(list ?? "", RULES).flatMap(parseParameter);
  },
  findPackages(content) {
    const block = readGemfileBlock(content) ?? "";
    return [...block.matchAll(/^gem[\s(]\s*["']([^"']+)/gm)].map(([, name]) => name!);
  },
  packages: bundlerPackages,
  run: { wrapper: "run.rb", argv: (wrapper, file) => [wrapper, file] },
};

/** Parses `name`, `name = 1`, `name:` and `name: 1`; collecting parameters (`*rest`) receive nothing. */
function parseParameter(item: string): Parameter[] {
  const found = /^(\w+)\s*(?:(=|:)\s*([\s\S]*))?$/.exec(item);
  if (!found) return [];
  const [, name, , initial] = found;
  const value = readLiteral(initial);
  return [{ name: name!, kind: "named", schema: toSchema(initial, value), optional: Boolean(initial) }];
}

/** Derives a JSON Schema from a parameter's literal default, because Ruby has no type annotations. */
function toSchema(initial: string | undefined, value: unknown): ParameterSchema {
  if (initial?.startsWith("[")) return { type: "array" };
  if (initial?.startsWith("{")) return { type: "object" };
  if (value === undefined || value === null) return {};
  if (typeof value === "number")
    return { type: Number.isInteger(value) ? "integer" : "number", default: value };
  return { type: typeof value, default: value };
}
