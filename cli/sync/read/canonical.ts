/** Canonical form of items: only differences in this form count. */

import { createFolder } from "../../../src/features/accounts/folders/operations.ts";
import { createResource } from "../../../src/features/assets/resources/operations.ts";
import { createResourceType } from "../../../src/features/assets/resources/type-operations.ts";
import { createVariable } from "../../../src/features/assets/variables/operations.ts";
import { createApp } from "../../../src/features/code/apps/operations.ts";
import { createFlow } from "../../../src/features/code/flows/operations.ts";
import { createScript } from "../../../src/features/code/scripts/operations.ts";
import { isTriggerEnabled, toTriggerMode } from "../../../src/features/triggers/common/mode.ts";
import { storedTriggerOperations } from "../../../src/features/triggers/common/stored/operations.ts";
import { createHttpTrigger, normaliseRoute } from "../../../src/features/triggers/http/operations.ts";
import { createSchedule } from "../../../src/features/triggers/schedules/operations.ts";
import { createWebsocketTrigger } from "../../../src/features/triggers/websocket/operations.ts";
import type { Operation } from "../../../src/platform/http/operation.ts";
import { normaliseAppValue } from "./apps/code-app.ts";
import { listAppCode, listFlowCode } from "./inline.ts";
import { type Fields, findStoredKind, type Item, type Kind } from "./items.ts";

/** The body schemas of these operations define an item's fields and their defaults. */
const CREATE_OPERATIONS: Partial<Record<Kind, Operation>> = {
  "resource type": createResourceType,
  variable: createVariable,
  resource: createResource,
  script: createScript,
  flow: createFlow,
  app: createApp,
  "code app": createApp,
  schedule: createSchedule,
  "http trigger": createHttpTrigger,
  "websocket trigger": createWebsocketTrigger,
};

function findBodySchema(kind: Kind): Operation["body"] {
  if (kind === "folder") return createFolder.body;
  const stored = findStoredKind(kind);
  return (stored ? storedTriggerOperations[stored.kind].create : CREATE_OPERATIONS[kind])?.body;
}

/** Fields that the service computes if the files do not contain them; missing ones are no difference. */
const COMPUTED_FIELDS: Partial<Record<Kind, readonly string[]>> = {
  script: ["lock", "schema", "no_main_func"],
  flow: ["schema"],
  app: ["policy"],
  folder: ["owners", "extra_perms", "display_name"],
};

/** Fields that identify the item or follow from other fields. */
const IGNORED_FIELDS = ["path", "name", "has_preprocessor", "is_template", "draft_only"];

/** Returns the canonical fields. Empty, false and null values equal missing ones, except inside values. */
export function toCanonicalFields(item: Item): Fields {
  const { kind } = item;
  const meant = normaliseFields(item);
  if (kind === "script" && meant.kind === "script") delete meant.kind;
  if (kind === "settings") dropDefaults(meant);
  if (kind === "folder") dropOwnerGrants(meant);
  if (kind === "folder" && meant.display_name === item.path) delete meant.display_name;
  if (findStoredKind(kind))
    meant.enabled = isTriggerEnabled(meant.enabled as undefined, meant.mode as undefined);
  const said = Object.entries(meant).filter(
    ([name, value]) => name === "value" || name === "content" || !isEmptyValue(value),
  );
  return Object.fromEntries(said);
}

/** Returns the fields as they are sent to the service. */
export function normaliseFields({ kind, path, fields }: Item): Fields {
  const shape = kind === "folder" ? undefined : findBodySchema(kind);
  const whole = isApp(kind) ? { policy: {}, ...fields } : fields;
  const parsed = shape?.safeParse({ ...whole, path, name: path });
  // Invalid fields are shown unchanged, and rejected by the service.
  const known = structuredClone(parsed?.success ? mergeUnknownFields(parsed.data as Fields) : fields);
  if (isApp(kind)) normalisePolicy(known, fields);
  if (kind === "app") normaliseApp(known);
  if (kind === "code app") normaliseCodeApp(known);
  if (kind === "flow") for (const { code } of listFlowCode(known.value)) dropEmptyLock(code);
  if (kind === "group") for (const name of ["members", "admins"]) known[name] = sortList(known[name]);
  const meant = parsed?.success ? normaliseTrigger(kind, known) : known;
  const own = Object.entries(JSON.parse(JSON.stringify(meant)) as Fields).filter(
    ([name, value]) => !IGNORED_FIELDS.includes(name) && (name === "value" || value !== null),
  );
  return Object.fromEntries(own);
}

/** Fields whose absence does not mean an empty value, and fields that the service determines. */
const NEVER_EMPTY = [
  "path",
  "name",
  "is_template",
  "draft_only",
  "lock",
  "content",
  "language",
  "value",
  "schema",
  "policy",
];

/**
 * Returns the fields that the file sets to null, false, 0 or "". They mean the same as missing ones, so they are no
 * difference; the service keeps and returns them.
 */
export function listExplicitEmpty({ kind, path, fields }: Item): Fields {
  const shape = findBodySchema(kind);
  const whole = isApp(kind) ? { policy: {}, ...fields } : fields;
  if (!shape?.safeParse({ ...whole, path, name: path }).success) return {};
  const empty = Object.entries(fields).filter(
    ([name, value]) =>
      !NEVER_EMPTY.includes(name) && (value === null || value === false || value === 0 || value === ""),
  );
  return Object.fromEntries(empty);
}

/** Merges unknown fields into the known ones: they are compared and sent like all others. */
function mergeUnknownFields({ extra, ...known }: Fields): Fields {
  return { ...(extra as Fields | undefined), ...known };
}

/** Normalises `mode` of newer clients and `enabled` of older ones. */
function normaliseTrigger(kind: Kind, known: Fields): Fields {
  if (kind !== "http trigger" && kind !== "websocket trigger") return known;
  const { mode } = known;
  const enabled = isTriggerEnabled(known.enabled as boolean | undefined, mode as undefined);
  const { extra: _, ...rest } = (kind === "http trigger" ? normaliseRoute(known as never) : known) as Fields;
  return { ...rest, enabled, ...(mode !== undefined && { mode: toTriggerMode(enabled) }) };
}

/** Drops settings that have no effect as long as automatic invitations are disabled. */
function dropDefaults(settings: Fields): void {
  if (settings.auto_invite_as === "developer") delete settings.auto_invite_as;
  if (settings.auto_invite_mode === "invite") delete settings.auto_invite_mode;
}

/** Drops write grants of owners, which owners have anyway. */
function dropOwnerGrants(folder: Fields): void {
  const { owners, extra_perms } = folder;
  if (!Array.isArray(owners) || typeof extra_perms !== "object" || extra_perms === null) return;
  const others = Object.entries(extra_perms).filter(([who, right]) => !(right && owners.includes(who)));
  folder.extra_perms = Object.fromEntries(others);
}

export function isEmptyValue(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === undefined || value === false || value === "";
}

function dropEmptyLock(code: Fields): void {
  if (!code.lock) delete code.lock;
}

const isApp = (kind: Kind): boolean => kind === "app" || kind === "code app";

/** Removes the deployer, which is not compared. */
function normalisePolicy(known: Fields, given: Fields): void {
  if (given.policy === undefined) delete known.policy;
  const { on_behalf_of: _, on_behalf_of_email: __, ...policy } = (known.policy ?? {}) as Fields;
  if (known.policy) known.policy = policy;
}

/** Drops flags that follow from the code. */
function normaliseApp(known: Fields): void {
  for (const owner of listCodeOwners(known.value)) if (owner.type === RUNS_OWN_CODE) delete owner.type;
  for (const { code } of listAppCode(known.value)) dropEmptyLock(code);
}

export const RUNS_OWN_CODE = "runnableByName";

/** Lists the objects in an app that contain a script. */
export function listCodeOwners(value: unknown): Fields[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(listCodeOwners);
  return "inlineScript" in value && value.inlineScript ? [value as Fields, ...inner] : inner;
}

const sortList = (value: unknown): unknown => (Array.isArray(value) ? [...value].sort() : value);

export interface ComparedFields {
  local: Fields;
  remote: Fields;
}

/**
 * Drops fields of an app of code that have their default: the page's runnables, which follow from its backend, and the
 * publisher's rights.
 */
function normaliseCodeApp(known: Fields): void {
  known.value = normaliseAppValue(known.value);
  const { triggerables: _, triggerables_v2: __, ...policy } = (known.policy ?? {}) as Fields;
  if (policy.execution_mode === "publisher") delete policy.execution_mode;
  known.policy = policy;
}

/** Compares both sides in canonical form. Computed fields missing in the files are ignored. */
export function compareItems(local: Item, remote: Item): ComparedFields {
  const compared = { local: toCanonicalFields(local), remote: toCanonicalFields(remote) };
  for (const name of COMPUTED_FIELDS[local.kind] ?? [])
    if (!(name in compared.local)) delete compared.remote[name];
  // The rights may be in a file beside the app; without it they stay unchanged, but the app is public only if the
  // folder says so.
  if (local.kind === "code app" && !("policy" in compared.local) && !isPublic(compared.remote))
    delete compared.remote.policy;
  if (isUnsetSecret(local)) delete compared.remote.value;
  if (local.kind === "flow") {
    const locked = new Map(listFlowCode(compared.local.value).map(({ id, code }) => [id, code.lock]));
    for (const { id, code } of listFlowCode(compared.remote.value)) if (!locked.get(id)) delete code.lock;
  }
  return compared;
}

/** Whether the item is a secret whose value is not stored in the folder. */
export const isUnsetSecret = ({ kind, fields }: Item): boolean =>
  kind === "variable" && fields.is_secret === true && (fields.value ?? undefined) === undefined;

const isPublic = ({ policy }: Fields): boolean =>
  (policy as Fields | undefined)?.execution_mode === "anonymous";

export const isSameItem = ({ local, remote }: ComparedFields): boolean => Bun.deepEquals(local, remote);
