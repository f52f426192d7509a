/** Imports between scripts of one workspace: which script a name in the source means. */
import { posix } from "node:path";
import { type Language, runtimeOf } from "./languages.ts";

/** `f/` and `u/`: the first segments of every script's path. */
const ROOTS = ["f", "u"];

/**
 * The scripts that an import may mean, the likeliest first.
 * @param specifier as `analyseScript` names it: `./x`, `../dir/x.ts`, `/f/dir/x` of TypeScript; `f.dir.x.name`, `.x` of
 * Python, where the last name may be a module or something in one
 * @param from path of the script that imports it
 */
export function importedPaths(language: Language, specifier: string, from: string): string[] {
  return runtimeOf(language) === "python3" ? ofPython(specifier, from) : ofTypeScript(specifier, from);
}

function ofTypeScript(specifier: string, from: string): string[] {
  const joined = specifier.startsWith("/") ? specifier.slice(1) : posix.join(posix.dirname(from), specifier);
  const plain = joined.replace(/\.[cm]?[jt]sx?$/, "");
  // Files in a repository may carry the runtime in their names.
  const withoutRuntime = plain.replace(/\.(bun|deno|nativets)$/, "");
  return [...new Set([plain, withoutRuntime])].filter(isScriptPath);
}

function ofPython(specifier: string, from: string): string[] {
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

/** How one script of a folder that holds both by their paths imports another one, from `u/ann/a` to `f/lib/b`. */
export function relativeSpecifier(from: string, to: string): string {
  const relative = posix.relative(posix.dirname(from), to);
  return `${relative.startsWith(".") ? "" : "./"}${relative}.ts`;
}
