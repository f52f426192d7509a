/** Which packages a Python script asks for, as its comments and imports say. */
import { distributionOf } from "./import-names.ts";

/** What a script says about its packages in comments. */
export interface Stated {
  /** `# requirements:` or PEP 723: the whole list, instead of what the imports say. */
  requirements: string[] | undefined;
  /** `# extra_requirements:`: beside what the imports say. */
  extra: string[];
  /** `import x  # pin: x==1.2` and `# repin:`, by the name of the module's top package. */
  pinned: Map<string, string>;
  /** The Python version that is asked for, as `3.12`; undefined when any will do. */
  python: string | undefined;
}

/** Reads the comments. Never fails: a line that is no requirement is the package client's to refuse. */
export function readStated(source: string): Stated {
  const lines = source.split(/\r?\n/);
  const inline = readInlineMetadata(lines);
  return {
    requirements: blockOf(lines, "requirements") ?? inline?.dependencies,
    extra: blockOf(lines, "extra_requirements") ?? [],
    pinned: pinsOf(lines),
    python: versionOf(lines) ?? inline?.python,
  };
}

/** The packages to ask for, sorted, without repetition. @param modules full names of modules that are not the standard library's */
export function requirementsOf({ requirements, extra, pinned }: Stated, modules: string[]): string[] {
  const inferred = modules.map((module) => pinned.get(module.split(".")[0]!) ?? distributionOf(module));
  return [...new Set([...(requirements ?? inferred), ...extra])].sort();
}

/** Comment lines that follow `# <name>:`, up to the first line that is no comment. */
function blockOf(lines: string[], name: string): string[] | undefined {
  const start = new RegExp(`^#\\s?${name}:\\s*$`);
  const at = lines.findIndex((line) => start.test(line));
  if (at < 0) return undefined;
  const found: string[] = [];
  for (const line of lines.slice(at + 1)) {
    if (!line.startsWith("#") || /^#\s?\w+:\s*$/.test(line)) break;
    const text = line.replace(/^#+/, "").trim();
    if (text !== "" && !text.startsWith("#")) found.push(text);
  }
  return found;
}

function pinsOf(lines: string[]): Map<string, string> {
  const pins = new Map<string, string>();
  for (const line of lines) {
    const match = /^\s*(?:import|from)\s+(\w+)[^#]*#\s*(?:re)?pin:\s*(\S.*)$/.exec(line);
    if (match) pins.set(match[1]!, match[2]!.trim());
  }
  return pins;
}

/** `# py: >=3.12`, `# py: 3.11`, `# py311`, among the comments at the top. */
function versionOf(lines: string[]): string | undefined {
  for (const line of lines) {
    if (line.trim() !== "" && !line.startsWith("#")) return undefined;
    const short = /^#\s*py(3)(\d{1,2})\s*$/.exec(line);
    if (short) return `${short[1]}.${short[2]}`;
    const long = /^#\s*py:\s*(.+)$/.exec(line);
    if (long) return minorOf(long[1]!);
  }
  return undefined;
}

/** The version that a specifier such as `>=3.12,<3.14` begins with. */
function minorOf(specifier: string): string | undefined {
  return /(?:[=~>]=|===)?\s*(3\.\d{1,2})/.exec(specifier)?.[1];
}

/**
 * Inline script metadata (PEP 723): TOML between `# /// script` and `# ///`.
 * @returns undefined when there is none, or it is not TOML
 */
function readInlineMetadata(
  lines: string[],
): { dependencies: string[] | undefined; python: string | undefined } | undefined {
  const start = lines.findIndex((line) => /^# \/\/\/ script\s*$/.test(line));
  if (start < 0) return undefined;
  const end = lines.findIndex((line, index) => index > start && /^# \/\/\/\s*$/.test(line));
  if (end < 0) return undefined;
  const text = lines.slice(start + 1, end).map((line) => line.replace(/^# ?/, ""));
  let metadata: Record<string, unknown>;
  try {
    metadata = Bun.TOML.parse(text.join("\n")) as Record<string, unknown>;
  } catch {
    return undefined;
  }
  const { dependencies, "requires-python": python } = metadata;
  return {
    dependencies: Array.isArray(dependencies) ? dependencies.filter((each) => typeof each === "string") : [],
    python: typeof python === "string" ? minorOf(python) : undefined,
  };
}
