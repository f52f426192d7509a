/**
 * Items of which a repository keeps one file per branch or workspace, as `x.main.resource.yaml` beside or instead of
 * `x.resource.yaml`: the sections `workspaces` and `gitBranches` of `wmill.yaml`, read as existing clients read them.
 */
import { normaliseServerUrl } from "../../client/transport.ts";
import { type Fields, filterStrings, TRIGGER_KINDS } from "./items.ts";

/** What the files of a folder are deployed to, or pulled from. */
export interface SyncTarget {
  workspace: string;
  /** The server's address; undefined for a data directory. */
  url?: string | undefined;
  /** The branch, or the section of `wmill.yaml`, whose files count; undefined: the one that fits the others. */
  branch?: string | undefined;
}

/** Which items have a file of their own per branch. */
export interface BranchItems {
  /** The part of the file names between the item's name and its kind. */
  name: string;
  /** Globs of files by kind; undefined: none of the kind. */
  globs: Partial<Record<BranchKind, string[]>>;
  settings: boolean;
}

type BranchKind = "variables" | "resources" | "schedules" | "triggers" | "folders";

const KINDS: readonly BranchKind[] = ["variables", "resources", "schedules", "triggers", "folders"];

const COMMON = "commonSpecificItems";

/** Names of the section, newest first. */
const SECTIONS = ["workspaces", "gitBranches", "environments", "git_branches"];

const toObject = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/**
 * Resolves which entry of `wmill.yaml` counts: the one of the given branch, else of the workspace's name, else of its
 * address, else of the branch that git has checked out.
 * @returns the entry's overrides of the other settings, and the items with a file per branch, if any
 */
export async function resolveBranch(
  root: string,
  fields: Fields,
  target: SyncTarget,
): Promise<{ overrides: Fields; branch_items?: BranchItems }> {
  const section = toObject(SECTIONS.map((name) => fields[name]).find(Boolean));
  if (Object.keys(section).length === 0) return { overrides: {} };
  const entries = Object.entries(section)
    .filter(([name]) => name !== COMMON)
    .map(([name, entry]): [string, Fields] => [name, toObject(entry)]);
  const findByBranch = (branch: string | undefined) =>
    branch === undefined ? undefined : entries.find(([name, entry]) => (entry.gitBranch ?? name) === branch);
  const given = target.branch;
  const named = given === undefined ? findByTarget(entries, target) : (findByBranch(given)?.[0] ?? given);
  const [, entry = {}] =
    (named === undefined
      ? findByBranch(await readGitBranch(root))
      : entries.find(([name]) => name === named)) ?? [];
  const [common, own] = [toObject(section[COMMON]), toObject(entry.specificItems)];
  const overrides = toObject(entry.overrides);
  if (!section[COMMON] && !entry.specificItems) return { overrides };
  const globs: BranchItems["globs"] = {};
  for (const kind of KINDS)
    if (common[kind] || own[kind])
      globs[kind] = [...filterStrings(common[kind]), ...filterStrings(own[kind])];
  const settings = (own.settings ?? common.settings) === true;
  const name = (named ?? target.workspace).replace(/[/\\:*?"<>|.]/g, "_");
  return { overrides, branch_items: { name, globs, settings } };
}

/** Finds the entry that is named as the workspace, or that has its address and id. */
function findByTarget(entries: [string, Fields][], { workspace, url }: SyncTarget): string | undefined {
  if (entries.some(([name]) => name === workspace)) return workspace;
  const isAt = ([name, { baseUrl, workspaceId }]: [string, Fields]) =>
    url !== undefined &&
    typeof baseUrl === "string" &&
    URL.canParse(baseUrl) &&
    normaliseServerUrl(baseUrl) === normaliseServerUrl(url) &&
    (workspaceId ?? name) === workspace;
  return entries.find(isAt)?.[0];
}

/** Reads the branch that is checked out; undefined outside a repository, or without git. */
async function readGitBranch(root: string): Promise<string | undefined> {
  if (!Bun.which("git")) return undefined;
  const asked = Bun.spawn(["git", "rev-parse", "--abbrev-ref", "HEAD"], {
    cwd: root,
    stdin: "ignore",
    stderr: "ignore",
  });
  const [said, code] = await Promise.all([asked.stdout.text(), asked.exited]);
  return code === 0 ? said.trim() || undefined : undefined;
}

const TRIGGERS = TRIGGER_KINDS.map((kind) => kind.replace(" ", "_")).join("|");

/** Names of files of which there may be one per branch: what is before the branch's name, the branch, and the ending. */
const FILE_NAMES: [pattern: RegExp, kind: BranchKind | "settings"][] = [
  [/^(settings)(?:\.([^./]+))?(\.(?:yaml|json))$/, "settings"],
  [/^(.+\/folder)(?:\.([^./]+))?(\.meta\.(?:yaml|json))$/, "folders"],
  [/^([^.]+)(?:\.([^./]+))?(\.variable\.(?:yaml|json))$/, "variables"],
  [/^([^.]+)(?:\.([^./]+))?(\.resource\.(?:yaml|json|file\..+))$/, "resources"],
  [/^([^.]+)(?:\.([^./]+))?(\.schedule\.(?:yaml|json))$/, "schedules"],
  [new RegExp(String.raw`^([^.]+)(?:\.([^./]+))?(\.(?:${TRIGGERS})\.(?:yaml|json))$`), "triggers"],
];

interface NameParts {
  kind: BranchKind | "settings";
  stem: string;
  /** Undefined for the file of all branches. */
  branch: string | undefined;
  ending: string;
}

function parseName(name: string): NameParts | undefined {
  for (const [pattern, kind] of FILE_NAMES) {
    const [, stem, branch, ending] = pattern.exec(name) ?? [];
    if (stem !== undefined && ending !== undefined) return { kind, stem, branch, ending };
  }
  return undefined;
}

/** Whether the item that a file describes has one file per branch. */
function isPerBranch(items: BranchItems, { kind, stem, ending }: NameParts): boolean {
  if (kind === "settings") return items.settings;
  const described = ending.startsWith(".resource.file.") ? ".resource.yaml" : ending.replace(/json$/, "yaml");
  const name = kind === "folders" ? stem.slice(0, -"/folder".length) : stem + described;
  return (items.globs[kind] ?? []).some((glob) => new Bun.Glob(glob).match(name));
}

/** Returns the name that a file would have without branches; undefined for a file that does not count. */
export function toPlainName(items: BranchItems | undefined, name: string): string | undefined {
  const parts = parseName(name);
  if (!parts) return name;
  if (parts.branch === undefined) return items && isPerBranch(items, parts) ? undefined : name;
  const isOurs = items !== undefined && parts.branch === items.name && isPerBranch(items, parts);
  return isOurs ? parts.stem + parts.ending : undefined;
}

/** Returns the name of the file that counts for a plain name. */
export function toBranchName(items: BranchItems | undefined, name: string): string {
  const parts = items && parseName(name);
  return parts && isPerBranch(items, parts) ? `${parts.stem}.${items.name}${parts.ending}` : name;
}
