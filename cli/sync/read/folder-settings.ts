/** The settings of a folder in `wmill.yaml`, which existing clients use too. */
import { join } from "node:path";
import { type BranchItems, resolveBranch, type SyncTarget } from "./branch-items.ts";
import { type Fields, filterStrings, getGlobName, type Item, SCRIPT_ENDINGS } from "./items.ts";
import { parseFile } from "./parse-file.ts";

export interface FolderSettings {
  /** Globs; empty: all files. */
  includes: string[];
  excludes: string[];
  /** Globs that a file must match as well; empty: all files. */
  extra_includes: string[];
  codebases: Codebase[];
  /** The language of files with the plain extension `.ts`. */
  default_ts: "bun" | "deno";
  /** Whether folders of flows and apps are named `x__flow` instead of `x.flow`. */
  new_names: boolean;
  /** Whether the workspace's encryption key is one of the files. */
  include_key: boolean;
  /** Items that have one file per branch; undefined: none. */
  branch_items?: BranchItems;
}

/** A codebase: scripts that are each deployed as one bundle with everything they import. */
export interface Codebase {
  /** Folder of what its scripts import, from the root; empty: the root. */
  path: string;
  /** Globs of its scripts, from the root or from its folder. */
  includes: string[];
  excludes: string[];
  /** The entry of `wmill.yaml`, with options of the bundler. */
  options: Fields;
}

/** Reads the folder's settings; defaults without a file. @throws a usage error for an invalid `wmill.yaml` */
export async function readSettings(root: string, target: SyncTarget): Promise<FolderSettings> {
  if (!(await Bun.file(join(root, "wmill.yaml")).exists())) return parseFolderSettings({});
  const fields = await parseFile(root, "wmill.yaml");
  const { overrides, branch_items } = await resolveBranch(root, fields, target);
  const { nonDottedPaths } = fields;
  const settings = parseFolderSettings({ ...fields, ...overrides, nonDottedPaths });
  return branch_items ? { ...settings, branch_items } : settings;
}

export function parseFolderSettings(fields: Fields): FolderSettings {
  const codebases = Array.isArray(fields.codebases) ? (fields.codebases as Fields[]) : [];
  return {
    includes: filterStrings(fields.includes),
    excludes: filterStrings(fields.excludes),
    extra_includes: filterStrings(fields.extraIncludes),
    codebases: codebases.map((each) => ({
      path: String(each?.relative_path ?? ".").replace(/^\.(?:\/|$)|\/+$/g, ""),
      includes:
        each?.includes === undefined || each.includes === null ? ["**"] : filterStrings(each.includes),
      excludes: filterStrings(each?.excludes),
      options: each ?? {},
    })),
    default_ts: fields.defaultTs === "deno" ? "deno" : "bun",
    new_names: fields.nonDottedPaths === true,
    include_key: fields.includeKey === true,
  };
}

const matches = (globs: readonly string[], name: string) =>
  globs.some((glob) => new Bun.Glob(glob).match(name));

/**
 * Whether globs include a file. They apply to items with a path; settings, groups and resource types are always
 * included.
 */
export function isIncluded({ includes, excludes, extra_includes }: FolderSettings, name: string): boolean {
  if (!/^[ufg]\//.test(name)) return true;
  const isListed = [includes, extra_includes].every((globs) => globs.length === 0 || matches(globs, name));
  return isListed && !matches(excludes, name);
}

/** Filters the service's items by the globs of `wmill.yaml`. */
export function filterIncluded(
  { settings }: { settings: FolderSettings },
  remote: Map<string, Item>,
): Map<string, Item> {
  const isOne = (item: Item) => listPlaces(item).some((name) => isIncluded(settings, name));
  return new Map([...remote].filter(([, item]) => isOne(item)));
}

/** Lists the files that globs may select an item by: a script may have its code alone. */
function listPlaces(item: Item): string[] {
  if (item.kind !== "script") return [getGlobName(item)];
  const { language } = item.fields;
  const endings = SCRIPT_ENDINGS.filter(
    ([ending, of]) => of === language || (ending === ".ts" && language === "deno"),
  );
  return [getGlobName(item), ...endings.map(([ending]) => item.path + ending)];
}

/** Finds the codebase that a script is bundled with; undefined for a standalone script. */
export function findCodebase({ codebases }: FolderSettings, name: string): Codebase | undefined {
  if (!name.endsWith(".ts")) return undefined;
  return codebases.find(({ path, includes, excludes }) => {
    const names = path !== "" && name.startsWith(`${path}/`) ? [name, name.slice(path.length + 1)] : [name];
    const isNamed = (globs: string[]) => names.some((each) => matches(globs, each));
    return isNamed(includes) && !isNamed(excludes);
  });
}
