/** A workspace as the service has it. */
import { tarballWorkspace } from "../../../src/features/lifecycle/export/archive-operations.ts";
import { parseFields } from "../../../src/lib/json/json.ts";
import type { Client } from "../../client/transport.ts";
import { type Fields, type Item, itemAt, keyOf, scriptAt } from "./items.ts";

/** How the values of secrets are written: not at all, sealed with the workspace's key, or as they are. */
export type Secrets = "none" | "sealed" | "plain";

/** What may be left out. */
export const SKIPPABLE = [
  "variables",
  "resources",
  "resource-types",
  "schedules",
  "triggers",
  "groups",
] as const;

/** What of a workspace is looked at, on both sides. */
export interface Selection {
  secrets: Secrets;
  settings: boolean;
  skip: readonly (typeof SKIPPABLE)[number][];
  /** Items at these paths and below them; empty: all. */
  only: readonly string[];
}

const KIND_OF_SKIP: Record<(typeof SKIPPABLE)[number], readonly Item["kind"][]> = {
  variables: ["variable"],
  resources: ["resource"],
  "resource-types": ["resource type"],
  schedules: ["schedule"],
  triggers: ["http trigger", "websocket trigger"],
  groups: ["group"],
};

/** Whether the item is looked at. */
export function isSelected(
  { kind, path, fields }: Item,
  { secrets, settings, skip, only }: Selection,
): boolean {
  if (kind === "settings") return settings && only.length === 0;
  if (skip.some((name) => KIND_OF_SKIP[name].includes(kind))) return false;
  if (kind === "variable" && fields.is_secret === true && secrets === "none") return false;
  const place = kind === "folder" ? `f/${path}` : path;
  return only.length === 0 || only.some((start) => place === start || place.startsWith(`${start}/`));
}

/** The items of a workspace that are selected and that the caller may read, by key. */
export async function readArchive(
  client: Client,
  workspace: string,
  selection: Selection,
): Promise<Map<string, Item>> {
  const isSkipped = (name: (typeof SKIPPABLE)[number]) => selection.skip.includes(name);
  const query = {
    archive_type: "tar",
    plain_secrets: selection.secrets === "plain",
    skip_secrets: selection.secrets === "none",
    skip_variables: isSkipped("variables"),
    skip_resources: isSkipped("resources"),
    skip_resource_types: isSkipped("resource-types"),
    include_schedules: !isSkipped("schedules"),
    include_triggers: !isSkipped("triggers"),
    include_groups: !isSkipped("groups"),
    include_settings: selection.settings,
    // By the longer ending: the folder's own default does not count here.
    default_ts: "bun",
  };
  const response = await client.open(tarballWorkspace, { workspace, query } as never);
  const files = new Map<string, string>();
  for (const [name, file] of await new Bun.Archive(await response.bytes()).files()) {
    files.set(name, await file.text());
  }
  const items = itemsOf(files).filter((item) => isSelected(item, selection));
  return new Map(items.map((item) => [keyOf(item), item]));
}

function itemsOf(files: Map<string, string>): Item[] {
  const code = new Map<string, { language: string; content: string }>();
  for (const [name, content] of files) {
    const found = name.endsWith(".json") ? undefined : scriptAt(name);
    if (found) code.set(found.path, { language: found.language, content });
  }
  return [...files].flatMap(([name, text]) => {
    const at = name.endsWith(".json") ? itemAt(name.slice(0, -".json".length)) : undefined;
    if (!at) return [];
    const fields = parseFields(text) as Fields;
    // An app of code is for the client that builds it.
    if (at.kind === "raw app" && typeof fields.value !== "string") return [];
    return [{ ...at, fields: at.kind === "script" ? { ...fields, ...code.get(at.path) } : fields }];
  });
}
