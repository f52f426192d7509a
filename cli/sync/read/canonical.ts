/** Items in one form, whoever wrote them: only what differs in that form is a difference. */

import { createResource } from "../../../src/features/assets/resources/operations.ts";
import { createResourceType } from "../../../src/features/assets/resources/type-operations.ts";
import { createVariable } from "../../../src/features/assets/variables/operations.ts";
import { createApp } from "../../../src/features/code/apps/operations.ts";
import { createFlow } from "../../../src/features/code/flows/operations.ts";
import { createScript } from "../../../src/features/code/scripts/operations.ts";
import { isEnabled, modeOf } from "../../../src/features/triggers/common/mode.ts";
import { createHttpTrigger, settled } from "../../../src/features/triggers/http/operations.ts";
import { createSchedule } from "../../../src/features/triggers/schedules/operations.ts";
import { createWebsocketTrigger } from "../../../src/features/triggers/websocket/operations.ts";
import type { Operation } from "../../../src/platform/http/operation.ts";
import { placesOfApp, placesOfFlow } from "./inline.ts";
import type { Fields, Item, Kind } from "./items.ts";

/** What the service makes of what is sent to it says which fields there are, and what is meant where one is left out. */
const CREATED_BY: Partial<Record<Kind, Operation>> = {
  "resource type": createResourceType,
  variable: createVariable,
  resource: createResource,
  script: createScript,
  flow: createFlow,
  app: createApp,
  schedule: createSchedule,
  "http trigger": createHttpTrigger,
  "websocket trigger": createWebsocketTrigger,
};

/** Fields that the service finds by itself where the files do not say them: what is not said differs from nothing. */
const FOUND: Partial<Record<Kind, readonly string[]>> = {
  script: ["lock", "schema", "no_main_func"],
  flow: ["schema"],
  app: ["policy"],
  folder: ["owners", "extra_perms", "display_name"],
};

/** Says nothing of an item: which one it is, where it is, or what follows from the rest. */
const NOT_ITS_OWN = ["path", "name", "has_preprocessor", "is_template", "draft_only"];

/** The item's fields in that form: what is empty, false or null as good as not said, except for values. */
export function canonical(item: Item): Fields {
  const { kind } = item;
  const meant = meantBy(item);
  if (kind === "script" && meant.kind === "script") delete meant.kind;
  if (kind === "folder") dropOwnersRights(meant);
  if (kind === "folder" && meant.display_name === item.path) delete meant.display_name;
  const said = Object.entries(meant).filter(([name, value]) => name === "value" || !isUnsaid(value));
  return Object.fromEntries(said);
}

/** The fields as they are sent to the service. */
export function meantBy({ kind, path, fields }: Item): Fields {
  const shape = CREATED_BY[kind]?.body;
  const whole = kind === "app" ? { policy: {}, ...fields } : fields;
  const parsed = shape?.safeParse({ ...whole, path, name: path });
  // What is not understood is shown as it is, and refused by the service when it gets there.
  const known = structuredClone(parsed?.success ? withKept(parsed.data as Fields) : fields);
  if (kind === "app") settleApp(known, fields);
  if (kind === "flow") for (const { code } of placesOfFlow(known.value)) dropEmptyLock(code);
  if (kind === "group") for (const name of ["members", "admins"]) known[name] = sorted(known[name]);
  const meant = parsed?.success ? settleTrigger(kind, known) : known;
  const own = Object.entries(JSON.parse(JSON.stringify(meant)) as Fields).filter(
    ([name, value]) => !NOT_ITS_OWN.includes(name) && (name === "value" || value !== null),
  );
  return Object.fromEntries(own);
}

/** What nobody knows of is compared, and sent, as all else is. */
function withKept({ extra, ...known }: Fields): Fields {
  return { ...(extra as Fields | undefined), ...known };
}

/** Newer clients say by a word what older ones say by yes or no. */
function settleTrigger(kind: Kind, known: Fields): Fields {
  if (kind !== "http trigger" && kind !== "websocket trigger") return known;
  const { mode } = known;
  const enabled = isEnabled(known.enabled as boolean | undefined, mode as undefined);
  const { extra: _, ...rest } = (kind === "http trigger" ? settled(known as never) : known) as Fields;
  return { ...rest, enabled, ...(mode !== undefined && { mode: modeOf(enabled) }) };
}

/** Owners may write in a folder, whether that is said or not. */
function dropOwnersRights(folder: Fields): void {
  const { owners, extra_perms } = folder;
  if (!Array.isArray(owners) || typeof extra_perms !== "object" || extra_perms === null) return;
  const others = Object.entries(extra_perms).filter(([who, right]) => !(right && owners.includes(who)));
  folder.extra_perms = Object.fromEntries(others);
}

function isUnsaid(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === undefined || value === false || value === "";
}

function dropEmptyLock(code: Fields): void {
  if (!code.lock) delete code.lock;
}

/** Whoever deploys an app is who it acts for; that a component runs code of its own is plain from the code. */
function settleApp(known: Fields, given: Fields): void {
  if (given.policy === undefined) delete known.policy;
  const { on_behalf_of: _, on_behalf_of_email: __, ...policy } = (known.policy ?? {}) as Fields;
  if (known.policy) known.policy = policy;
  for (const owner of ownersOfCode(known.value)) if (owner.type === RUNS_OWN_CODE) delete owner.type;
  for (const { code } of placesOfApp(known.value)) dropEmptyLock(code);
}

export const RUNS_OWN_CODE = "runnableByName";

/** The objects of an app that have a script of their own. */
export function ownersOfCode(value: unknown): Fields[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(ownersOfCode);
  return "inlineScript" in value && value.inlineScript ? [value as Fields, ...inner] : inner;
}

const sorted = (value: unknown): unknown => (Array.isArray(value) ? [...value].sort() : value);

export interface Compared {
  local: Fields;
  remote: Fields;
}

/** Both in the one form; what the files leave to the service is taken from neither. */
export function compare(local: Item, remote: Item): Compared {
  const compared = { local: canonical(local), remote: canonical(remote) };
  for (const name of FOUND[local.kind] ?? []) if (!(name in compared.local)) delete compared.remote[name];
  if (local.kind === "flow") {
    const locked = new Map(placesOfFlow(compared.local.value).map(({ id, code }) => [id, code.lock]));
    for (const { id, code } of placesOfFlow(compared.remote.value)) if (!locked.get(id)) delete code.lock;
  }
  return compared;
}

export const isSame = ({ local, remote }: Compared): boolean => Bun.deepEquals(local, remote);
