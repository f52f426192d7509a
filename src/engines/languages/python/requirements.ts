/** Determines a Python script's packages from its comments and imports. */
import { findDistribution } from "./import-names.ts";

/** Package requirements in a script's comments. */
export interface StatedRequirements {
  /** `# requirements:` or PEP 723: replaces the imports. */
  requirements: string[] | undefined;
  /** `# extra_requirements:`: added to the imports. */
  extra: string[];
  /** `import x  # pin: x==1.2` and `# repin:`, by top-level module. */
  pinned: Map<string, string>;
  /** Required Python version, such as `3.12`; undefined: any. */
  python: string | undefined;
}

/** Parses the comments. Never fails: invalid requirements are left to the package client. */
export function parseStatedRequirements(source: string): StatedRequirements {
  const lines = source.split(/\r?\n/);
  const inline = readInlineMetadata(lines);
  return {
    requirements: readBlock(lines, "requirements") ?? inline?.dependencies,
    extra: readBlock(lines, "extra_requirements") ?? [],
    pinned: parsePins(lines),
    python: parsePythonVersion(lines) ?? inline?.python,
  };
}

/** Lists the required packages, sorted and unique. @param modules full names of modules outside the standard library */
export function listRequirements(
  { requirements, extra, pinned }: StatedRequirements,
  modules: string[],
): string[] {
  const inferred = modules.map((module) => pinned.get(module.split(".")[0]!) ?? findDistribution(module));
  return [...new Set([...(requirements ?? inferred), ...extra])].sort();
}

/** Reads the comment lines after `# <name>:`, up to the first other line. */
function readBlock(lines: string[], name: string): string[] | undefined {
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

function parsePins(lines: string[]): Map<string, string> {
  const pins = new Map<string, string>();
  for (const line of lines) {
    const match = /^\s*(?:import|from)\s+(\w+)\b[^#]*#\s*(?:re)?pin:\s*(\S.*)$/.exec(line);
    if (match) pins.set(match[1]!, match[2]!.trim());
  }
  return pins;
}

/** Parses `# py: >=3.12`, `# py: 3.11` or `# py311` in the comments at the top. */
function parsePythonVersion(lines: string[]): string | undefined {
  for (const line of lines) {
    if (line.trim() !== "" && !line.startsWith("#")) return undefined;
    const short = /^#\s*py(3)(\d{1,2})\s*$/.exec(line);
    if (short) return `${short[1]}.${short[2]}`;
    const long = /^#\s*py:/.exec(line);
    if (long) return parseMinorVersion(line.slice(long[0].length));
  }
  return undefined;
}

/** Returns the first version of a specifier such as `>=3.12,<3.14`. */
function parseMinorVersion(specifier: string): string | undefined {
  return /3\.\d{1,2}/.exec(specifier)?.[0];
}

/**
 * Parses inline script metadata (PEP 723): TOML between `# /// script` and `# ///`.
 * @returns undefined if there is none or it is not TOML
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
    python: typeof python === "string" ? parseMinorVersion(python) : undefined,
  };
}
