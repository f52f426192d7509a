/**
 * Imports between local files. Code run from a file is submitted together with the files that it imports, at the paths
 * where they would be deployed. Imports without a local file come from the workspace.
 */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { findRuntime } from "../../src/engines/languages/languages.ts";
import { resolveLocalImport } from "../../src/engines/languages/local-imports.ts";
import { analyseScript } from "../../src/engines/languages/reading/analyse.ts";
import { type FileLanguage, parseFileLanguage } from "./file-language.ts";

/** A file as code to run. */
export interface LocalCode {
  content: string;
  language: FileLanguage;
  /** Path where it would be deployed; its imports are resolved against it. Undefined without a path. */
  path?: string;
  /** Sources it imports, by their paths. */
  modules?: Record<string, string>;
}

/** The code, and the local files it consists of. */
export interface LocalFiles {
  code: LocalCode;
  files: string[];
  /** The first relative import without a file, if nothing but a file beside the code can be meant. */
  missing?: MissingFile;
}

export interface MissingFile {
  /** Names the importing file and the import. */
  message: string;
  /** Path of the file that would be imported; undefined if the import leaves the folder. */
  file?: string;
}

const ENDINGS: Partial<Record<string, string[]>> = {
  bun: [".ts", ".bun.ts", ".deno.ts", ".nativets.ts", ".fetch.ts", ".js"],
  python3: [".py"],
};

/** Cheap test for imports of other scripts, which avoids the analysis of most files. */
const MAY_IMPORT: Partial<Record<string, RegExp>> = {
  bun: /["'](?:\.\.?|\/[fu])\//,
  python3: /^\s*(?:from|import)\s+(?:\.|[fu]\.)/m,
};

/** Limit of the server. */
const MAX_MODULES = 500;

/** Adds the local files that the code imports, directly or indirectly. */
export async function readLocalCode(file: string, content: string): Promise<LocalFiles> {
  const language = parseFileLanguage(file);
  const own = resolve(file);
  const plain = { code: { content, language }, files: [own] };
  const runtime = findRuntime(language) ?? "";
  const endings = ENDINGS[runtime];
  if (!endings || !MAY_IMPORT[runtime]?.test(content)) return plain;
  const imports = await listImports(language, content);
  if (imports.length === 0) return plain;
  const project = findProject(own, endings);
  const modules = new Map<string, string>();
  const files = [own];
  const names = new Map([[project.path, basename(own)]]);
  let missing: MissingFile | undefined;
  const queue = imports.map((specifier) => ({ specifier, from: project.path }));
  for (let next = queue.shift(); next && modules.size < MAX_MODULES; next = queue.shift()) {
    const candidates = resolveLocalImport(language, next.specifier, next.from);
    if (candidates.some((path) => path === project.path || modules.has(path))) continue;
    const found = candidates
      .map((path) => ({ path, file: findFile(project, path, endings) }))
      .find((each) => each.file !== undefined);
    if (!found) {
      missing ??= findMissingFile(project, names.get(next.from)!, next.specifier, candidates, endings);
      continue;
    }
    const source = await Bun.file(found.file!).text();
    modules.set(found.path, source);
    names.set(found.path, basename(found.file!));
    files.push(found.file!);
    const further = await listImports(language, source);
    queue.push(...further.map((specifier) => ({ specifier, from: found.path })));
  }
  const sources = modules.size > 0 ? { modules: Object.fromEntries(modules) } : {};
  const whole = { code: { content, language, path: project.path, ...sources }, files };
  return missing ? { ...whole, missing } : whole;
}

/** Describes an import that no file answers. In a project it may mean a deployed script: undefined. */
function findMissingFile(
  { root, prefix }: Project,
  importer: string,
  specifier: string,
  candidates: string[],
  endings: string[],
): MissingFile | undefined {
  if (prefix === "" || !specifier.startsWith(".")) return undefined;
  // In Python the last name may be a member of the module.
  const path = candidates.at(-1);
  if (path === undefined || !path.startsWith(prefix)) {
    return { message: `${importer} imports ${specifier}, which is outside of its folder` };
  }
  const name = `${path.slice(prefix.length)}${endings[0]}`;
  return {
    message: `${importer} imports ${specifier}: there is no file ${name} in ${root}`,
    file: join(root, name),
  };
}

/** Lists the imports of other scripts; empty if the code cannot be parsed, since the run reports that. */
async function listImports(language: FileLanguage, content: string): Promise<string[]> {
  try {
    return (await analyseScript(language, content, { owner: "" })).imports;
  } catch {
    return [];
  }
}

interface Project {
  /** Folder of the files. */
  root: string;
  /** Path of the root in the workspace: "" for a folder that contains f/ and u/. */
  prefix: string;
  /** Path of the file to run. */
  path: string;
}

/** Path assigned to the folder of a file outside of any project. */
const LOOSE_PREFIX = "f/local/";

/**
 * Finds the project of a file, which is below f/ or u/ in it: the nearest folder with a wmill.yaml, else the working
 * directory, else the repository's root. Otherwise the file's own folder is the project.
 */
function findProject(file: string, endings: string[]): Project {
  for (const root of [findAbove(file, "wmill.yaml"), process.cwd(), findAbove(file, ".git")]) {
    if (root === undefined) continue;
    const path = removeEnding(relative(root, file).split(sep).join("/"), endings);
    if (/^[fu]\/[^/]+\/./.test(path)) return { root, prefix: "", path };
  }
  const path = LOOSE_PREFIX + removeEnding(basename(file), endings);
  return { root: dirname(file), prefix: LOOSE_PREFIX, path };
}

function findAbove(file: string, name: string): string | undefined {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** Removes the longest of the endings that the name has. */
function removeEnding(name: string, endings: string[]): string {
  const [longest = ""] = endings.filter((each) => name.endsWith(each)).sort((a, b) => b.length - a.length);
  return name.slice(0, name.length - longest.length);
}

/** Finds the file of a path. Files outside the project that are reached through a link do not count. */
function findFile({ root, prefix }: Project, path: string, endings: string[]): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const start = join(root, path.slice(prefix.length));
  const found = endings.map((ending) => start + ending).find((name) => existsSync(name));
  if (found === undefined) return undefined;
  return realpathSync(found).startsWith(realpathSync(root) + sep) ? found : undefined;
}
