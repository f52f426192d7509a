import type { ParameterSchema } from "../types.ts";
import { createCargoBuild, readManifestText } from "./cargo.ts";
import { blankComments, type LexicalRules, readBracket, splitList } from "./source-text.ts";
import type { ProgramAdapter } from "./types.ts";

const RULES: LexicalRules = {
  line_comments: ["//"],
  block_comments: [["/*", "*/"]],
  quotes: '"',
  escape: "\\",
};
/** First segments of a `use` that are not crates to install. */
const OWN_CRATES = ["std", "core", "alloc", "proc_macro", "crate", "self", "super"];
const MAIN = /^(?:pub\s+)?(async\s+)?fn\s+main\s*(?=\()/m;

export const rustAdapter: ProgramAdapter = {
  extension: "rs",
  tool: "rustc",
  install: "install Rust (Debian: rustc)",
  locate: ["--print", "sysroot"],
  program: "bin/rustc",
  source_name: /(?:src\/)?inner\.rs/g,
  parse(content) {
    const source = blankComments(content, RULES);
    const main = MAIN.exec(source);
    const list = main && readBracket(source, main.index + main[0].length, RULES);
    if (typeof list !== "string") return undefined;
    return splitList(list, RULES).map((item) => {
      const colon = item.indexOf(":");
      const name = item
        .slice(0, colon)
        .replace(/^mut\s+/, "")
        .trim();
      const type = item.slice(colon + 1).replace(/\s+/g, "");
      const optional = type.startsWith("Option<");
      return { name, kind: "named", schema: toSchema(optional ? innerOf(type) : type), optional };
    });
  },
  findPackages,
  packages: createCargoBuild(findPackages, MAIN),
  run: {
    wrappers: { "main.rs": "main.rs", "json.rs": "json.rs", "from_json.rs": "from_json.rs" },
    files: (content, parameters) => ({
      "inner.rs": content.replace(MAIN, "pub $1fn main"),
      "call.rs": `inner::main(${parameters.map(({ name }) => `argument(&given, ${JSON.stringify(name)})`).join(", ")})`,
    }),
    // Rust's own linker may be in a folder that gcc, running as another user, considers unreadable (access(2)).
    argv: [
      "--edition=2021",
      "-O",
      "-A",
      "warnings",
      "-C",
      "strip=symbols",
      "-C",
      "link-arg=-fuse-ld=bfd",
      "-o",
      "program",
      "main.rs",
    ],
    environment: {},
  },
};

/** Lists the crates of the manifest in the script's head, and those that it uses without having stated them. */
function findPackages(content: string): string[] {
  const stated = listStatedCrates(readManifestText(content));
  const source = blankComments(content, RULES);
  const used = [
    ...source.matchAll(/^[ \t]*(?:pub\s+)?(?:use|extern\s+crate)\s+(?:::)?([a-z_]\w*)\s*(?:::|;|as\b)/gm),
  ];
  const own = new Set([...OWN_CRATES, ...[...source.matchAll(/\bmod\s+(\w+)/g)].map(([, name]) => name!)]);
  const crates = used.map(([, name]) => name!).filter((name) => !own.has(name));
  const isStated = (name: string) => stated.some((each) => each.replaceAll("-", "_") === name);
  return [...new Set([...stated, ...crates.filter((name) => !isStated(name))])];
}

/** Lists the crates in the tables `[dependencies]` and `[dependencies.<name>]` of a manifest. */
export function listStatedCrates(manifest: string): string[] {
  const names: string[] = [];
  let isList = false;
  for (const line of manifest.split("\n").map((each) => each.trim())) {
    const name = isList ? /^([\w-]+)\s*=/.exec(line) : undefined;
    if (name) names.push(name[1]!);
    if (!line.startsWith("[")) continue;
    isList = line.startsWith("[dependencies]");
    const table = /^\[dependencies\.([\w-]+)\]/.exec(line);
    if (table) names.push(table[1]!);
  }
  return names;
}

const SCHEMAS: Record<string, ParameterSchema> = {
  String: { type: "string" },
  "&str": { type: "string" },
  "&'staticstr": { type: "string" },
  bool: { type: "boolean" },
  f32: { type: "number" },
  f64: { type: "number" },
  Json: {},
};

const innerOf = (type: string) => type.slice(type.indexOf("<") + 1, type.lastIndexOf(">"));

function toSchema(type: string): ParameterSchema {
  const known = SCHEMAS[type];
  if (known) return { ...known };
  if (/^[iu](8|16|32|64|128|size)$/.test(type)) return { type: "integer" };
  if (type.startsWith("Option<")) return toSchema(innerOf(type));
  if (type.startsWith("Vec<")) return { type: "array", items: toSchema(innerOf(type)) };
  return /(^|::)Json$/.test(type) ? {} : { type: "object" };
}
