/** Imports between scripts of one workspace: resolves specifiers to script paths. */
import { posix } from "node:path";
import { findRuntime, type Language } from "./languages.ts";

/** First segments of script paths. */
const ROOTS = ["f", "u"];

/**
 * Returns the script paths an import may mean, the likeliest first.
 * @param specifier as reported by `analyseScript`: `./x`, `../dir/x.ts`, `/f/dir/x` in TypeScript; `f.dir.x.name`, `.x`
 * in Python, where the last name may be a module or a member
 * @param from path of the importing script
 */
export function resolveLocalImport(language: Language, specifier: string, from: string): string[] {
  return findRuntime(language) === "python3"
    ? resolvePython(specifier, from)
    : resolveTypeScript(specifier, from);
}

function resolveTypeScript(specifier: string, from: string): string[] {
  const joined = specifier.startsWith("/") ? specifier.slice(1) : posix.join(posix.dirname(from), specifier);
  const plain = joined.replace(/\.[cm]?[jt]sx?$/, "");
  // File names in a repository may include the runtime.
  const withoutRuntime = plain.replace(/\.(bun|deno|nativets)$/, "");
  return [...new Set([plain, withoutRuntime])].filter(isScriptPath);
}

function resolvePython(specifier: string, from: string): string[] {
  const dots = /^\.*/.exec(specifier)![0].length;
  const names = specifier
    .slice(dots)
    .split(".")
    .filter((name) => name !== "");
  const base = dots === 0 ? [] : from.split("/").slice(0, -dots);
  if (dots > 0 && base.length === 0) return [];
  const whole = [...base, ...names];
  return [whole, whole.slice(0, -1)].map((segments) => segments.join("/")).filter(isScriptPath);
}

function isScriptPath(path: string): boolean {
  const segments = path.split("/");
  return segments.length >= 3 && ROOTS.includes(segments[0]!) && !segments.includes("..");
}

/**
 * Returns the specifier by which one script imports another, if both are files at their paths: from `u/ann/a` to
 * `f/lib/b`.
 */
export function toRelativeSpecifier(from: string, to: string): string {
  const relative = posix.relative(posix.dirname(from), to);
  return `${relative.startsWith(".") ? "" : "./"}${relative}.ts`;
}
