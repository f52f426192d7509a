import type { Parameter, ParameterSchema } from "../types.ts";
import { composerPackages, listPhpPackages } from "./composer.ts";
import { blankComments, type LexicalRules, readBracket, readLiteral, splitList } from "./source-text.ts";
import type { ProgramAdapter } from "./types.ts";

const RULES: LexicalRules = {
  line_comments: ["//", "# "],
  block_comments: [["/*", "*/"]],
  quotes: "\"'",
  escape: "\\",
};

/** What PHP reads, one a line. The folder above its own may be a home directory. */
const LOCATE = `
$lib = dirname(PHP_BINARY, 2) . '/lib';
$certificates = function_exists('openssl_get_cert_locations') ? openssl_get_cert_locations() : [];
$paths = [
    PHP_BINARY,
    $lib,
    $lib . '64',
    ini_get('extension_dir'),
    php_ini_loaded_file(),
    ...explode(',', (string) php_ini_scanned_files()),
    $certificates['default_cert_file'] ?? '',
    $certificates['default_cert_dir'] ?? '',
];
$paths = array_filter(array_map('trim', $paths), fn($path) => $path !== '' && $path[0] === '/' && file_exists($path));
echo implode(PHP_EOL, [PHP_BINARY, PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION, ...array_unique($paths)]);`;

export const phpAdapter: ProgramAdapter = {
  extension: "php",
  tool: "php",
  install: "install PHP 8 (Debian: php-cli)",
  locate: ["-r", LOCATE],
  syntax_check: {
    command: ["php", "-n", "-l"],
    error: /^(?:PHP )?(?:Parse|Fatal) error: +(?<message>.*) in \S+(?: input code)? on line (?<line>\d+)$/m,
  },
  parse(content) {
    const source = blankComments(content, RULES);
    const main = /^[ \t]*function\s+main\s*\(/m.exec(source);
    const list = main && readBracket(source, main.index + main[0].length - 1, RULES);
    return typeof list === "string" ? splitList(list, RULES).flatMap(parseParameter) : undefined;
  },
  findPackages(content) {
    return listPhpPackages(content).map(({ name }) => name);
  },
  packages: composerPackages,
  run: { wrapper: "run.php", argv: (wrapper, file) => ["-d", "display_errors=stderr", wrapper, file] },
};

function parseParameter(item: string): Parameter[] {
  const found = /^(?:([?\\\w|]+)\s+)?&?\$(\w+)(?:\s*=\s*([\s\S]*))?$/.exec(item);
  if (!found) return [];
  const [, type = "mixed", name, initial] = found;
  const schema = toSchema(type);
  const value = readLiteral(initial);
  if (value !== undefined && value !== null) schema.default = value;
  return [{ name: name!, kind: "named", schema, optional: initial !== undefined || type.startsWith("?") }];
}

const SCHEMAS: Record<string, ParameterSchema> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int: { type: "integer" },
  float: { type: "number" },
  array: { type: "array" },
  iterable: { type: "array" },
  object: { type: "object" },
  mixed: {},
};

/** Converts a PHP type to JSON Schema; a class stands for a resource of that name. */
function toSchema(written: string): ParameterSchema {
  const type = written.replace(/^\?/, "").replace(/\|null$|^null\|/i, "");
  const known = SCHEMAS[type.toLowerCase()];
  if (known) return { ...known };
  if (type.includes("|")) return {};
  const name = type.split("\\").at(-1)!;
  const resource = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();
  return { type: "object", format: `resource-${resource}` };
}
