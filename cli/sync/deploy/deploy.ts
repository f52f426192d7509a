/** Deploys one step of a plan, with the same operations as manual changes. */

import { createFolder, deleteFolder, existsFolder, updateFolder } from "../../client/operations/accounts.ts";
import {
  createResource,
  createResourceType,
  createVariable,
  deleteResource,
  deleteResourceType,
  deleteVariable,
  updateResource,
  updateResourceType,
  updateVariable,
} from "../../client/operations/assets.ts";
import {
  createApp,
  createRawApp,
  deleteApp,
  deleteRawApp,
  updateApp,
  updateRawApp,
} from "../../client/operations/code.ts";
import {
  createHttpTrigger,
  createSchedule,
  createWebsocketTrigger,
  deleteHttpTrigger,
  deleteSchedule,
  deleteWebsocketTrigger,
  setHttpTriggerEnabled,
  setScheduleEnabled,
  setWebsocketTriggerEnabled,
  storedTriggers,
  updateHttpTrigger,
  updateSchedule,
  updateWebsocketTrigger,
} from "../../client/operations/triggers.ts";
import type { AnyRemoteOperation } from "../../client/remote-operation.ts";
import type { SyncStep } from "../plan.ts";
import { listExplicitEmpty, normaliseFields, toCanonicalFields } from "../read/canonical.ts";
import { type Fields, findStoredKind, getItemKey, type Item, type Kind } from "../read/items.ts";
import { updatePolicy } from "./app-policy.ts";
import { archiveFlow, archiveScript, deployFlow, deployScript } from "./deploy-code.ts";
import { deleteRemoteApp, deployCodeApp } from "./deploy-code-app.ts";
import { deployDependencies } from "./deploy-dependencies.ts";
import { deleteRemoteGroup, saveRemoteGroup } from "./deploy-group.ts";
import { deployKey } from "./deploy-key.ts";
import { saveSettings } from "./deploy-settings.ts";
import type { Deployment } from "./deployment.ts";

/** Kinds with uniform operations: a body to create, a body to update, a path to delete. */
interface PlainOperations {
  create: AnyRemoteOperation;
  update: AnyRemoteOperation;
  remove: AnyRemoteOperation;
  /** Sets `enabled`, which an update does not change. */
  setEnabled?: AnyRemoteOperation;
  /** Fields that no update can change: the item is deleted and created again. */
  fixed?: readonly string[];
  /** Name of the item's parameter in its operations' paths. */
  parameter?: "name";
  /** An update drops fields that are left out. */
  replaces?: true;
}

const PLAIN_KINDS: Partial<Record<Kind, PlainOperations>> = {
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

function findPlainOperations(kind: Kind): PlainOperations | undefined {
  const stored = findStoredKind(kind);
  if (!stored) return PLAIN_KINDS[kind];
  const { create, update, delete: remove, setEnabled } = storedTriggers[stored.kind];
  return { create, update, remove, setEnabled, replaces: true };
}

/** Deploys, archives or deletes the item of one step of a plan. @throws CliError with the service's reason */
export async function deployStep(at: Deployment, step: SyncStep): Promise<void> {
  const { item } = step;
  const { kind, path } = item;
  const plain = findPlainOperations(kind);
  if (plain) return deployPlain(at, plain, step);
  if (kind === "encryption key" && step.change !== "delete") return deployKey(at, item);
  if (kind === "dependencies") return deployDependencies(at, item, step.change);
  if (step.change === "delete") {
    if (kind === "script") await archiveScript(at, path);
    else if (kind === "flow") await archiveFlow(at, path);
    else if (kind === "code app") await deleteRemoteApp(at, path);
    else if (kind === "group") await deleteRemoteGroup(at, path);
    return;
  }
  const before = at.remote.get(getItemKey(item));
  if (kind === "code app") return deployCodeApp(at, item, before);
  if (kind === "script") await deployScript(at, item, before);
  else if (kind === "flow") await deployFlow(at, item, before);
  else if (kind === "group")
    await saveRemoteGroup(at, path, toCanonicalFields(item), before && toCanonicalFields(before));
  else if (step.change === "change") await saveSettings(at, step.compared);
}

async function deployPlain(at: Deployment, plain: PlainOperations, step: SyncStep): Promise<void> {
  const { item } = step;
  const { kind, path } = item;
  const call = (operation: AnyRemoteOperation, input: Fields) =>
    at.client.call(operation, { workspace: at.workspace, ...input });
  const target = { [plain.parameter ?? "path"]: path };
  if (step.change === "delete") {
    await call(plain.remove, target);
    return;
  }
  const named = { ...target, ...(kind === "app" && { deployment_message: at.message }) };
  const query = isEncrypted(at, item) ? { query: { already_encrypted: true } } : {};
  const remade = step.change === "change" && plain.fixed?.some((name) => differs(step.compared, name));
  if (step.change === "create" || remade) {
    const body = { ...normaliseFields(item), ...listExplicitEmpty(item), ...named };
    if (kind === "app" && !("policy" in body)) Object.assign(body, { policy: {} });
    // The service returns fields that were sent explicitly, even with default values.
    if (kind === "resource type" && item.fields.is_fileset === undefined)
      Object.assign(body, { is_fileset: undefined });
    if (remade) await call(plain.remove, target);
    // Some folders exist from the start, and are not in the archive until they are changed.
    const isThere =
      kind === "folder" && (await at.client.call(existsFolder, { ...workspaceInput(at), name: path }));
    if (!isThere) await call(plain.create, { ...query, body });
    // The creator of a folder becomes its owner; the update sets the owners from the file.
    if (kind === "folder") await call(plain.update, { ...target, body });
    return;
  }
  const { local, remote } = step.compared;
  const changes = kind === "app" ? updatePolicy(normaliseFields(item), remote) : normaliseFields(item);
  await call(plain.update, {
    ...target,
    ...query,
    body: {
      ...(!plain.replaces && listEmptied(local, remote)),
      ...changes,
      ...listExplicitEmpty(item),
      ...named,
    },
  });
  if (plain.setEnabled && local.enabled !== remote.enabled) {
    await call(plain.setEnabled, { ...target, body: { enabled: local.enabled === true } });
  }
}

const workspaceInput = ({ workspace }: Deployment) => ({ workspace });

const differs = ({ local, remote }: { local: Fields; remote: Fields }, name: string): boolean =>
  !Bun.deepEquals(local[name], remote[name]);

/** Returns empty values for fields that were removed: an update keeps fields that are left out. */
function listEmptied(local: Fields, remote: Fields): Fields {
  const gone = Object.entries(remote).filter(([name]) => !(name in local));
  return Object.fromEntries(
    gone.map(([name, value]) => [
      name,
      typeof value === "string" ? "" : typeof value === "boolean" ? false : null,
    ]),
  );
}

const isEncrypted = ({ secrets }: Deployment, { kind, fields }: Item): boolean =>
  kind === "variable" && secrets === "sealed" && fields.is_secret === true;
