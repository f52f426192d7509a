/** Scripts and flows whose dependencies could not be resolved: a push deploys them again although nothing changed. */

import { listFlows, listScripts } from "../client/operations/code.ts";
import type { ServiceClient } from "../client/transport.ts";
import type { SyncStep } from "./plan.ts";
import { compareItems } from "./read/canonical.ts";
import { getItemKey, type Item } from "./read/items.ts";

/** Maximum entries per page of a list. */
const PAGE_SIZE = 100;

/** Returns steps for the unchanged items whose newest version failed. */
export async function listFailedSteps(
  { client, workspace }: { client: ServiceClient; workspace: string },
  local: Map<string, Item>,
  remote: Map<string, Item>,
  steps: readonly SyncStep[],
): Promise<SyncStep[]> {
  const planned = new Set(steps.map(({ item }) => getItemKey(item)));
  const failed = await Promise.all([
    listFailed("script", (query) =>
      client.call(listScripts, { workspace, query: { ...query, include_without_main: true } }),
    ),
    listFailed("flow", (query) => client.call(listFlows, { workspace, query })),
  ]);
  return failed.flat().flatMap((key): SyncStep[] => {
    const item = local.get(key);
    const now = remote.get(key);
    if (!item || !now || planned.has(key)) return [];
    return [{ change: "change", item, compared: compareItems(item, now) }];
  });
}

interface ListedCode {
  path: string;
  has_deploy_errors?: boolean | undefined;
}

async function listFailed(
  kind: Item["kind"],
  list: (query: { page: number; per_page: number }) => Promise<ListedCode[]>,
): Promise<string[]> {
  const keys: string[] = [];
  for (let page = 1; ; page++) {
    const listed = await list({ page, per_page: PAGE_SIZE });
    const failed = listed.filter(({ has_deploy_errors }) => has_deploy_errors);
    keys.push(...failed.map(({ path }) => getItemKey({ kind, path } as Item)));
    if (listed.length < PAGE_SIZE) return keys;
  }
}
