import type * as bundle from "../../../src/features/code/apps/bundle-operations.ts";
import type * as apps from "../../../src/features/code/apps/operations.ts";
import type * as raw from "../../../src/features/code/apps/raw-operations.ts";
import type * as dependencies from "../../../src/features/code/dependencies/operations.ts";
import type * as check from "../../../src/features/code/flows/check-operations.ts";
import type * as list from "../../../src/features/code/flows/list-operations.ts";
import type * as flows from "../../../src/features/code/flows/operations.ts";
import type * as code from "../../../src/features/code/scripts/code-operations.ts";
import type * as importer from "../../../src/features/code/scripts/imports/importer-operations.ts";
import type * as scripts from "../../../src/features/code/scripts/operations.ts";
import type * as snapshot from "../../../src/features/code/scripts/snapshot-operations.ts";
import type * as version from "../../../src/features/code/scripts/version-operations.ts";
import { remote } from "../remote-operation.ts";

export const createAppRaw = remote<typeof bundle.createAppRaw>(
  "POST",
  "/w/{workspace}/apps/create_raw",
  "text",
);
export const updateAppRaw = remote<typeof bundle.updateAppRaw>(
  "POST",
  "/w/{workspace}/apps/update_raw/{path}",
  "text",
);

export const createApp = remote<typeof apps.createApp>("POST", "/w/{workspace}/apps/create", "text");
export const deleteApp = remote<typeof apps.deleteApp>("DELETE", "/w/{workspace}/apps/delete/{path}", "text");
export const updateApp = remote<typeof apps.updateApp>("POST", "/w/{workspace}/apps/update/{path}", "text");

export const createRawApp = remote<typeof raw.createRawApp>("POST", "/w/{workspace}/raw_apps/create", "text");
export const deleteRawApp = remote<typeof raw.deleteRawApp>(
  "DELETE",
  "/w/{workspace}/raw_apps/delete/{path}",
  "text",
);
export const updateRawApp = remote<typeof raw.updateRawApp>(
  "POST",
  "/w/{workspace}/raw_apps/update/{path}",
  "text",
);

export const createWorkspaceDependencies = remote<typeof dependencies.createWorkspaceDependencies>(
  "POST",
  "/w/{workspace}/workspace_dependencies/create",
  "text",
);
export const deleteWorkspaceDependencies = remote<typeof dependencies.deleteWorkspaceDependencies>(
  "POST",
  "/w/{workspace}/workspace_dependencies/delete/{language}",
  "text",
);

export const checkFlow = remote<typeof check.checkFlow>("POST", "/w/{workspace}/flows/check", "json");

export const listFlows = remote<typeof list.listFlows>("GET", "/w/{workspace}/flows/list", "json");

export const archiveFlowByPath = remote<typeof flows.archiveFlowByPath>(
  "POST",
  "/w/{workspace}/flows/archive/{path}",
  "text",
);
export const deleteFlowByPath = remote<typeof flows.deleteFlowByPath>(
  "DELETE",
  "/w/{workspace}/flows/delete/{path}",
  "text",
);
export const getFlowByPath = remote<typeof flows.getFlowByPath>(
  "GET",
  "/w/{workspace}/flows/get/{path}",
  "json",
);
export const getFlowHistory = remote<typeof flows.getFlowHistory>(
  "GET",
  "/w/{workspace}/flows/history/p/{path}",
  "json",
);
export const updateFlow = remote<typeof flows.updateFlow>(
  "POST",
  "/w/{workspace}/flows/update/{path}",
  "text",
);
export const createFlow = remote<typeof flows.createFlow>("POST", "/w/{workspace}/flows/create", "text");
export const getFlowDeploymentStatus = remote<typeof flows.getFlowDeploymentStatus>(
  "GET",
  "/w/{workspace}/flows/deployment_status/p/{path}",
  "json",
);

export const analyseCode = remote<typeof code.analyseCode>("POST", "/w/{workspace}/scripts/analyse", "json");

export const getDependents = remote<typeof importer.getDependents>(
  "GET",
  "/w/{workspace}/workspaces/get_dependents/{imported_path}",
  "json",
);

export const archiveScriptByPath = remote<typeof scripts.archiveScriptByPath>(
  "POST",
  "/w/{workspace}/scripts/archive/p/{path}",
  "text",
);
export const createScript = remote<typeof scripts.createScript>(
  "POST",
  "/w/{workspace}/scripts/create",
  "text",
);
export const getScriptByPath = remote<typeof scripts.getScriptByPath>(
  "GET",
  "/w/{workspace}/scripts/get/p/{path}",
  "json",
);
export const getScriptDeploymentStatus = remote<typeof scripts.getScriptDeploymentStatus>(
  "GET",
  "/w/{workspace}/scripts/deployment_status/h/{hash}",
  "json",
);
export const listScripts = remote<typeof scripts.listScripts>("GET", "/w/{workspace}/scripts/list", "json");

export const createScriptSnapshot = remote<typeof snapshot.createScriptSnapshot>(
  "POST",
  "/w/{workspace}/scripts/create_snapshot",
  "text",
);

export const deleteScriptByPath = remote<typeof version.deleteScriptByPath>(
  "POST",
  "/w/{workspace}/scripts/delete/p/{path}",
  "json",
);
export const getScriptHistory = remote<typeof version.getScriptHistory>(
  "GET",
  "/w/{workspace}/scripts/history/p/{path}",
  "json",
);
