/** What clients ask of the public collection of scripts, flows and apps. This service has none, and asks nobody. */
import { z } from "zod";
import { NotFound } from "../../../lib/errors.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";

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

const queryHubResourceTypes = operation({
  ...lists,
  name: "queryResourceTypes",
  path: "/w/{workspace}/embeddings/query_resource_types",
  access: "member",
  scope: { domain: "resources", action: "read" },
  summary: "Search the resource types of the public collection: none is found",
  responds: responds.json(nothing),
  run: () => [],
});

/** One item of a collection that has none. */
const missing = (what: string, id: string): never => {
  throw new NotFound(`hub ${what} ${id}: there is no public collection here`);
};

const item = { method: "GET", access: "user", bound: true, responds: responds.json(z.unknown()) } as const;

const getHubScriptContent = operation({
  ...item,
  name: "getHubScriptContentByPath",
  path: "/scripts/hub/get/{path}",
  summary: "Read the source of a script of the public collection: there is none",
  run: (_, { path }) => missing("script", path),
});

const getHubScript = operation({
  ...item,
  name: "getHubScriptByPath",
  path: "/scripts/hub/get_full/{path}",
  summary: "Read a script of the public collection: there is none",
  run: (_, { path }) => missing("script", path),
});

const getHubFlow = operation({
  ...item,
  name: "getHubFlowById",
  path: "/flows/hub/get/{id}",
  summary: "Read a flow of the public collection: there is none",
  run: (_, { id }) => missing("flow", id),
});

const getHubApp = operation({
  ...item,
  name: "getHubAppById",
  path: "/apps/hub/get/{id}",
  summary: "Read an app of the public collection: there is none",
  run: (_, { id }) => missing("app", id),
});

export const hubOperations: Operation[] = [
  getTopHubScripts,
  queryHubScripts,
  listHubFlows,
  listHubApps,
  listHubIntegrations,
  queryHubResourceTypes,
  getHubScriptContent,
  getHubScript,
  getHubFlow,
  getHubApp,
];
