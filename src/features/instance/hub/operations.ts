/**
 * Operations of the public hub of scripts, flows and apps, which clients call. This service has no hub and answers with
 * empty lists.
 */
import { NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";

const EmptyList = z.array(z.unknown()).max(0);
const LIST_OPERATION = { method: "GET", access: "user", allowsWorkspaceTokens: true } as const;

export const getTopHubScripts = operation({
  ...LIST_OPERATION,
  name: "getTopHubScripts",
  path: "/scripts/hub/top",
  summary: "List scripts of the public hub: always empty",
  responds: responds.json(z.object({ asks: EmptyList })),
  run: () => ({ asks: [] }),
});

export const queryHubScripts = operation({
  ...LIST_OPERATION,
  name: "queryHubScripts",
  path: "/embeddings/query_hub_scripts",
  scope: { domain: "scripts", action: "read" },
  summary: "Search scripts of the public hub: always empty",
  responds: responds.json(EmptyList),
  run: () => [],
});

export const listHubFlows = operation({
  ...LIST_OPERATION,
  name: "listHubFlows",
  path: "/flows/hub/list",
  summary: "List flows of the public hub: always empty",
  responds: responds.json(z.object({ flows: EmptyList })),
  run: () => ({ flows: [] }),
});

export const listHubApps = operation({
  ...LIST_OPERATION,
  name: "listHubApps",
  path: "/apps/hub/list",
  summary: "List apps of the public hub: always empty",
  responds: responds.json(z.object({ apps: EmptyList })),
  run: () => ({ apps: [] }),
});

export const listHubIntegrations = operation({
  ...LIST_OPERATION,
  name: "listHubIntegrations",
  path: "/integrations/hub/list",
  scope: { domain: "scripts", action: "read" },
  summary: "List integrations of the public hub: always empty",
  responds: responds.json(EmptyList),
  run: () => [],
});

const queryHubResourceTypes = operation({
  ...LIST_OPERATION,
  name: "queryResourceTypes",
  path: "/w/{workspace}/embeddings/query_resource_types",
  access: "member",
  scope: { domain: "resources", action: "read" },
  summary: "Search resource types of the public hub: always empty",
  responds: responds.json(EmptyList),
  run: () => [],
});

/** Throws NotFound for an item of the hub. */
const throwNotFound = (what: string, id: string): never => {
  throw new NotFound(`hub ${what} ${id}: there is no public collection here`);
};

const ITEM_OPERATION = {
  method: "GET",
  access: "user",
  allowsWorkspaceTokens: true,
  responds: responds.json(z.unknown()),
} as const;

const getHubScriptContent = operation({
  ...ITEM_OPERATION,
  name: "getHubScriptContentByPath",
  path: "/scripts/hub/get/{path}",
  summary: "Read the source of a script of the public hub: always 404",
  run: (_, { path }) => throwNotFound("script", path),
});

const getHubScript = operation({
  ...ITEM_OPERATION,
  name: "getHubScriptByPath",
  path: "/scripts/hub/get_full/{path}",
  summary: "Read a script of the public hub: always 404",
  run: (_, { path }) => throwNotFound("script", path),
});

const getHubFlow = operation({
  ...ITEM_OPERATION,
  name: "getHubFlowById",
  path: "/flows/hub/get/{id}",
  summary: "Read a flow of the public hub: always 404",
  run: (_, { id }) => throwNotFound("flow", id),
});

const getHubApp = operation({
  ...ITEM_OPERATION,
  name: "getHubAppById",
  path: "/apps/hub/get/{id}",
  summary: "Read an app of the public hub: always 404",
  run: (_, { id }) => throwNotFound("app", id),
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
