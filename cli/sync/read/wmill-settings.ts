/** What a folder's `wmill.yaml` says of its files, as the command line says that it belongs to. */
import { asStrings, type Fields, type Item, placeOfItem } from "./items.ts";

export interface FolderSettings {
  /** Globs; none: all files. */
  includes: string[];
  excludes: string[];
  codebases: Codebase[];
  /** The language of a file that ends in `.ts` alone. */
  default_ts: "bun" | "deno";
  /** Folders of flows and apps are called `x__flow`, not `x.flow`. */
  new_names: boolean;
}

interface Codebase {
  path: string;
  includes: string[];
  excludes: string[];
}

export function toSettings(fields: Fields): FolderSettings {
  const codebases = Array.isArray(fields.codebases) ? (fields.codebases as Fields[]) : [];
  return {
    includes: [...asStrings(fields.includes), ...asStrings(fields.extraIncludes)],
    excludes: asStrings(fields.excludes),
    codebases: codebases.map((each) => ({
      path: String(each?.relative_path ?? ".").replace(/^\.\/?|\/+$/g, ""),
      includes: asStrings(each?.includes),
      excludes: asStrings(each?.excludes),
    })),
    default_ts: fields.defaultTs === "deno" ? "deno" : "bun",
    new_names: fields.nonDottedPaths === true,
  };
}

const matches = (globs: readonly string[], name: string) =>
  globs.some((glob) => new Bun.Glob(glob).match(name));

/** Only what has a place of its own is chosen by globs: settings, groups and resource types always count. */
export function isIncluded({ includes, excludes }: FolderSettings, name: string): boolean {
  if (!/^[ufg]\//.test(name)) return true;
  return (includes.length === 0 || matches(includes, name)) && !matches(excludes, name);
}

/** Without what the folder's `wmill.yaml` leaves out. */
export function included(
  { settings }: { settings: FolderSettings },
  remote: Map<string, Item>,
): Map<string, Item> {
  return new Map([...remote].filter(([, item]) => isIncluded(settings, placeOfItem(item))));
}

/** The codebase that a script is bundled with; undefined for one that stands alone. */
export function codebaseOf({ codebases }: FolderSettings, name: string): string | undefined {
  const found = codebases.find(({ path, includes, excludes }) => {
    if (!name.endsWith(".ts") || !(path === "" || name.startsWith(`${path}/`))) return false;
    const below = path === "" ? name : name.slice(path.length + 1);
    return (includes.length === 0 || matches(includes, below)) && !matches(excludes, below);
  });
  return found && (found.path || ".");
}
