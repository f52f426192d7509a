/** Reads the items of a workspace from the service. */

import { parseSchemaJson } from "../../../src/lib/json/json.ts";
import { getEncryptionKey, tarballWorkspace } from "../../client/operations/lifecycle.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { CliError } from "../../terminal/text/failure.ts";
import type { FolderSettings } from "./folder-settings.ts";
import {
  DEPENDENCIES_FOLDER,
  type Fields,
  getItemKey,
  type Item,
  parseDependenciesName,
  parseItemName,
  parseScriptName,
  TRIGGER_KINDS,
} from "./items.ts";

/** How secret values are included: not at all, encrypted with the workspace's key, or in plain text. */
export type SecretsMode = "none" | "sealed" | "plain";

/** Kinds that may be skipped. */
export const SKIPPABLE = [
  "variables",
  "resources",
  "resource-types",
  "schedules",
  "triggers",
  "groups",
] as const;

/** The kinds of items that are compared, on both sides. */
export interface ItemSelection {
  secrets: SecretsMode;
  settings: boolean;
  skip: readonly (typeof SKIPPABLE)[number][];
  /** Paths of items, or of folders of items; empty: all. */
  only: readonly string[];
}

const KINDS_BY_SKIP: Record<(typeof SKIPPABLE)[number], readonly Item["kind"][]> = {
  variables: ["variable"],
  resources: ["resource"],
  "resource-types": ["resource type"],
  schedules: ["schedule"],
  triggers: TRIGGER_KINDS,
  groups: ["group"],
};

/** Whether the item is selected. */
export function isSelected(
  { kind, path, fields }: Item,
  { secrets, settings, skip, only }: ItemSelection,
): boolean {
  if (kind === "settings") return settings && only.length === 0;
  if (kind === "encryption key") return secrets === "sealed" && only.length === 0;
  if (skip.some((name) => KINDS_BY_SKIP[name].includes(kind))) return false;
  if (kind === "variable" && fields.is_secret === true && secrets === "none") return false;
  const place = kind === "folder" ? `f/${path}` : kind === "dependencies" ? DEPENDENCIES_FOLDER + path : path;
  return only.length === 0 || only.some((start) => place === start || place.startsWith(`${start}/`));
}

/**
 * Reads the selected items that the caller may read, by key.
 * @param local the folder: the encryption key is read if the folder has one, or its settings include it
 */
export async function readArchive(
  client: ServiceClient,
  workspace: string,
  selection: ItemSelection,
  { items: local, settings }: { items: ReadonlyMap<string, Item>; settings: FolderSettings },
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
    include_workspace_dependencies: true,
    // Uses the longer file extensions, because the folder's default language does not apply here.
    default_ts: "bun",
  };
  const response = await client.open(tarballWorkspace, { workspace, query } as never);
  const files = new Map<string, string>();
  for (const [name, file] of await new Bun.Archive(await response.bytes()).files()) {
    files.set(name, await file.text());
  }
  const items = parseItems(files).filter((item) => isSelected(item, selection));
  const hasKey = settings.include_key || [...local.values()].some(({ kind }) => kind === "encryption key");
  if (hasKey && selection.secrets === "sealed" && selection.only.length === 0)
    items.push(...(await readKey(client, workspace)));
  return new Map(items.map((item) => [getItemKey(item), item]));
}

/** Returns nothing for callers who may not read it; the service rejects their attempt to change it. */
async function readKey(client: ServiceClient, workspace: string): Promise<Item[]> {
  try {
    const { key } = await client.call(getEncryptionKey, { workspace });
    return [{ kind: "encryption key", path: "", fields: { key } }];
  } catch (cause) {
    if (cause instanceof CliError && cause.name === "Forbidden") return [];
    throw cause;
  }
}

function parseItems(files: Map<string, string>): Item[] {
  const code = new Map<string, { language: string; content: string }>();
  for (const [name, content] of files) {
    const found = name.endsWith(".json") ? undefined : parseScriptName(name);
    if (found) code.set(found.path, { language: found.language, content });
  }
  return [...files].flatMap(([name, text]) => {
    const list = parseDependenciesName(name);
    if (list) return [{ ...list, fields: { content: text } }];
    const at = name.endsWith(".json") ? parseItemName(name.slice(0, -".json".length)) : undefined;
    if (!at) return [];
    const fields = parseSchemaJson(text) as Fields;
    if (at.kind === "raw app" && typeof fields.value !== "string")
      return [{ kind: "code app" as const, path: at.path, fields }];
    return [{ ...at, fields: at.kind === "script" ? { ...fields, ...code.get(at.path) } : fields }];
  });
}
