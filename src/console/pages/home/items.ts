/** Merges scripts, flows and apps into one list. */
import type { Answer } from "../../api/call.ts";
import type { Job } from "../../api/interface.d.ts";
import { getLanguageLabel } from "../../parts/items/languages.ts";

export type ItemKind = "script" | "flow" | "app";

export interface Item {
  kind: ItemKind;
  path: string;
  summary: string;
  language: string | undefined;
  starred: boolean;
  draft: boolean;
  last: Job | undefined;
}

type Scripts = Answer<"GET /w/{workspace}/scripts/list">;
type Flows = Answer<"GET /w/{workspace}/flows/list">;
type Apps = Answer<"GET /w/{workspace}/apps/list">;

/** Returns the deployed scripts and flows: only these can have runs. */
export function listDeployedRunnables(scripts: Scripts = [], flows: Flows = []) {
  const of = <K extends "script" | "flow">(kind: K, list: { path: string; draft_only: boolean }[]) =>
    list.flatMap(({ path, draft_only }) => (draft_only ? [] : [{ kind, path }]));
  return [...of("script", scripts), ...of("flow", flows)];
}

export function mergeItems(scripts: Scripts, flows: Flows, apps: Apps, runs: Job[]): Item[] {
  const last = new Map(runs.map((run) => [`${run.job_kind} ${run.script_path}`, run]));
  const common = (kind: ItemKind, item: Scripts[number] | Flows[number] | Apps[number]) => ({
    kind,
    path: item.path,
    summary: item.summary,
    starred: item.starred,
    draft: item.draft_only,
    last: last.get(`${kind} ${item.path}`),
  });
  return [
    ...scripts.map((each) => ({
      ...common("script", each),
      language: getLanguageLabel(each.language),
    })),
    ...flows.map((each) => ({ ...common("flow", each), language: undefined })),
    ...apps.map((each) => ({ ...common("app", each), language: undefined })),
  ];
}

/** Returns the folder of a path: `f/finance` for `f/finance/report`. */
const getFolder = (path: string) => path.split("/").slice(0, 2).join("/");

/** Lists the folders of items in display order. */
export const listFolders = (items: Item[]): string[] =>
  [...new Set(items.map(({ path }) => getFolder(path)))].sort((a, b) => a.localeCompare(b));

export interface Choice {
  text: string;
  /** Empty: all. */
  folder: string;
  kind: ItemKind | "all" | "starred";
}

/** Filters items and groups them by folder, favourites first. */
export function groupByFolder(
  items: Item[],
  { text, kind, folder: chosen }: Choice,
): [folder: string, items: Item[]][] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const folders = new Map<string, Item[]>();
  for (const item of items) {
    if (kind === "starred" ? !item.starred : kind !== "all" && item.kind !== kind) continue;
    const said = `${item.path} ${item.summary} ${item.language ?? ""}`.toLowerCase();
    if (!words.every((word) => said.includes(word))) continue;
    const folder = getFolder(item.path);
    if (chosen !== "" && folder !== chosen) continue;
    folders.set(folder, [...(folders.get(folder) ?? []), item]);
  }
  const order = (a: Item, b: Item) =>
    Number(b.starred) - Number(a.starred) || (a.summary || a.path).localeCompare(b.summary || b.path);
  return [...folders]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([folder, list]) => [folder, list.sort(order)]);
}
