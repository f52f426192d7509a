/** Does one step of a plan on the service: by the operations that change such an item by hand. */

import {
  createFolder,
  deleteFolder,
  existsFolder,
  updateFolder,
} from "../../../src/features/accounts/folders/operations.ts";
import {
  createResource,
  deleteResource,
  updateResource,
} from "../../../src/features/assets/resources/operations.ts";
import {
  createResourceType,
  deleteResourceType,
  updateResourceType,
} from "../../../src/features/assets/resources/type-operations.ts";
import {
  createVariable,
  deleteVariable,
  updateVariable,
} from "../../../src/features/assets/variables/operations.ts";
import { createApp, deleteApp, updateApp } from "../../../src/features/code/apps/operations.ts";
import { createRawApp, deleteRawApp, updateRawApp } from "../../../src/features/code/apps/raw-operations.ts";
import {
  createHttpTrigger,
  deleteHttpTrigger,
  setHttpTriggerEnabled,
  updateHttpTrigger,
} from "../../../src/features/triggers/http/operations.ts";
import {
  createSchedule,
  deleteSchedule,
  setScheduleEnabled,
  updateSchedule,
} from "../../../src/features/triggers/schedules/operations.ts";
import {
  createWebsocketTrigger,
  deleteWebsocketTrigger,
  setWebsocketTriggerEnabled,
  updateWebsocketTrigger,
} from "../../../src/features/triggers/websocket/operations.ts";
import type { Operation } from "../../../src/platform/http/operation.ts";
import type { Step } from "../plan.ts";
import { canonical, meantBy } from "../read/canonical.ts";
import { type Fields, type Item, type Kind, keyOf } from "../read/items.ts";
import { withPolicyOf } from "./app-policy.ts";
import { archiveFlow, archiveScript, deployFlow, deployScript } from "./deploy-code.ts";
import { deleteGroup, saveGroup } from "./deploy-group.ts";
import { saveSettings } from "./deploy-settings.ts";
import type { Deployment } from "./deployment.ts";

/** Kinds whose operations are alike: a body to create, a body to update, a path to delete. */
interface Plain {
  create: Operation;
  update: Operation;
  remove: Operation;
  /** Updates leave this as it is. */
  setEnabled?: Operation;
  /** What no update can change: the item is deleted and made anew. */
  fixed?: readonly string[];
  /** Named so in the paths of its operations. */
  parameter?: "name";
}

const PLAIN: Partial<Record<Kind, Plain>> = {
  folder: { create: createFolder, update: updateFolder, remove: deleteFolder, parameter: "name" },
  "resource type": {
    create: createResourceType,
    update: updateResourceType,
    remove: deleteResourceType,
    parameter: "name",
  },
  variable: { create: createVariable, update: updateVariable, remove: deleteVariable },
  resource: { create: createResource, update: updateResource, remove: deleteResource },
  app: { create: createApp, update: updateApp, remove: deleteApp },
  "raw app": { create: createRawApp, update: updateRawApp, remove: deleteRawApp },
  schedule: {
    create: createSchedule,
    update: updateSchedule,
    remove: deleteSchedule,
    setEnabled: setScheduleEnabled,
    fixed: ["script_path", "is_flow"],
  },
  "http trigger": {
    create: createHttpTrigger,
    update: updateHttpTrigger,
    remove: deleteHttpTrigger,
    setEnabled: setHttpTriggerEnabled,
  },
  "websocket trigger": {
    create: createWebsocketTrigger,
    update: updateWebsocketTrigger,
    remove: deleteWebsocketTrigger,
    setEnabled: setWebsocketTriggerEnabled,
  },
};

/** @throws CliError with the service's reason */
export async function deploy(at: Deployment, step: Step): Promise<void> {
  const { item } = step;
  const { kind, path } = item;
  const plain = PLAIN[kind];
  if (plain) return deployPlain(at, plain, step);
  if (step.change === "delete") {
    if (kind === "script") await archiveScript(at, path);
    else if (kind === "flow") await archiveFlow(at, path);
    else if (kind === "group") await deleteGroup(at, path);
    return;
  }
  const before = at.remote.get(keyOf(item));
  if (kind === "script") await deployScript(at, item, before);
  else if (kind === "flow") await deployFlow(at, item, before);
  else if (kind === "group") await saveGroup(at, path, canonical(item), before && canonical(before));
  else if (step.change === "change") await saveSettings(at, step.compared);
}

async function deployPlain(at: Deployment, plain: Plain, step: Step): Promise<void> {
  const { item } = step;
  const { kind, path } = item;
  const call = (operation: Operation, input: Fields) =>
    at.client.call(operation, { workspace: at.workspace, ...input });
  const target = { [plain.parameter ?? "path"]: path };
  if (step.change === "delete") {
    await call(plain.remove, target);
    return;
  }
  const named = { ...target, ...(kind === "app" && { deployment_message: at.message }) };
  const query = isSealed(at, item) ? { query: { already_encrypted: true } } : {};
  const remade = step.change === "change" && plain.fixed?.some((name) => differs(step.compared, name));
  if (step.change === "create" || remade) {
    const body = { ...meantBy(item), ...named };
    if (kind === "app" && !("policy" in body)) Object.assign(body, { policy: {} });
    if (remade) await call(plain.remove, target);
    // Some are there from a workspace's beginning, and in no archive until something is said of them.
    const isThere = kind === "folder" && (await at.client.call(existsFolder, { ...place(at), name: path }));
    if (!isThere) await call(plain.create, { ...query, body });
    // Whoever makes a folder becomes an owner of it: what is written says who they are.
    if (kind === "folder") await call(plain.update, { ...target, body });
    return;
  }
  const { local, remote } = step.compared;
  const changes = kind === "app" ? withPolicyOf(meantBy(item), remote) : meantBy(item);
  await call(plain.update, {
    ...target,
    ...query,
    body: { ...emptied(local, remote), ...changes, ...named },
  });
  if (plain.setEnabled && local.enabled !== remote.enabled) {
    await call(plain.setEnabled, { ...target, body: { enabled: local.enabled === true } });
  }
}

const place = ({ workspace }: Deployment) => ({ workspace });

const differs = ({ local, remote }: { local: Fields; remote: Fields }, name: string): boolean =>
  !Bun.deepEquals(local[name], remote[name]);

/** What is there and no longer said is taken away: left out of an update it would stay. */
function emptied(local: Fields, remote: Fields): Fields {
  const gone = Object.entries(remote).filter(([name]) => !(name in local));
  return Object.fromEntries(
    gone.map(([name, value]) => [
      name,
      typeof value === "string" ? "" : typeof value === "boolean" ? false : null,
    ]),
  );
}

const isSealed = ({ secrets }: Deployment, { kind, fields }: Item): boolean =>
  kind === "variable" && secrets === "sealed" && fields.is_secret === true;
