/** What clients ask of the public collection of scripts, flows and apps. This service has none, and asks nobody. */
import { z } from "zod";
import { type Operation, operation, responds } from "../../http/operation.ts";

const nothing = z.array(z.unknown()).max(0);
const lists = { method: "GET", access: "user", bound: true } as const;

export const getTopHubScripts = operation({
  ...lists,
  name: "getTopHubScripts",
  path: "/scripts/hub/top",
  summary: "List scripts of the public collection: none",
  responds: responds.json(z.object({ asks: nothing })),
  run: () => ({ asks: [] }),
});

export const queryHubScripts = operation({
  ...lists,
  name: "queryHubScripts",
  path: "/embeddings/query_hub_scripts",
  scope: { domain: "scripts", action: "read" },
  summary: "Search the scripts of the public collection: none is found",
  responds: responds.json(nothing),
  run: () => [],
});

export const listHubFlows = operation({
  ...lists,
  name: "listHubFlows",
  path: "/flows/hub/list",
  summary: "List flows of the public collection: none",
  responds: responds.json(z.object({ flows: nothing })),
  run: () => ({ flows: [] }),
});

export const listHubApps = operation({
  ...lists,
  name: "listHubApps",
  path: "/apps/hub/list",
  summary: "List apps of the public collection: none",
  responds: responds.json(z.object({ apps: nothing })),
  run: () => ({ apps: [] }),
});

export const listHubIntegrations = operation({
  ...lists,
  name: "listHubIntegrations",
  path: "/integrations/hub/list",
  scope: { domain: "scripts", action: "read" },
  summary: "List what the public collection has scripts for: nothing",
  responds: responds.json(nothing),
  run: () => [],
});

export const hubOperations: Operation[] = [
  getTopHubScripts,
  queryHubScripts,
  listHubFlows,
  listHubApps,
  listHubIntegrations,
];
