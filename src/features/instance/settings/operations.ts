import { z } from "zod";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, SvcError } from "../../../lib/errors.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { check, checkKey } from "../../../platform/config/check.ts";
import { SETTINGS } from "../../../platform/config/config.ts";
import { definitionOf, KEYS, type SettingKey, variableFor } from "../../../platform/config/keys.ts";
import { masked, unmasked } from "../../../platform/config/masking.ts";
import { describeProcess, ProcessSetting, refuseProcessSetting } from "../../../platform/config/process.ts";
import type { Source } from "../../../platform/config/store.ts";
import { flag, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { storeInstanceWebhook } from "../../signals/webhooks/endpoints.ts";
import { splitKeys } from "../../tenancy/license/key.ts";
import { checkLicenseKey } from "../../tenancy/license/service.ts";
import { readMetadata } from "../saml/metadata.ts";
import { isUrl } from "../saml/operations.ts";

const GlobalSetting = z.object({
  name: z.string(),
  value: z.unknown(),
  /** Who says so: what is stored gives way to a flag and to the environment. */
  source: z.enum(["flag", "environment", "stored", "default"]),
  /** The environment variable that would win. Undefined for keys that are not known here. */
  variable: z.string().optional(),
  meaning: z.string().optional(),
});

const READ_SECRET = { operation: "settings.read_secret", action_kind: "Execute" } as const;

export const getGlobalSetting = operation({
  name: "getGlobal",
  method: "GET",
  path: "/settings/global/{key}",
  access: "user",
  summary: "Read a setting of the instance as it holds now; null when it is not set",
  responds: responds.json(z.unknown()),
  audit: READ_SECRET,
  run: async (ctx, { key }) => {
    checkKey(key);
    const definition = definitionOf(key);
    if (!definition?.open && !ctx.caller.identity.super_admin) {
      throw new Forbidden(`setting ${key} is for super admins`);
    }
    const { value, source } = ctx.app.settings.find(key);
    if (source === "default") return null;
    if (definition === undefined || definition.secret) await ctx.write({ resource: key }, async () => {});
    return value;
  },
});

/** The longest text of a value that an audit row has. */
const AUDITED = 200;

export const setGlobalSetting = operation({
  name: "setGlobal",
  method: "POST",
  path: "/settings/global/{key}",
  access: "superAdmin",
  summary: "Set a setting of the instance, which holds at once; null removes it",
  body: z.object({ value: z.unknown() }),
  responds: responds.text("confirmation; it says so where the environment wins"),
  audit: { operation: "settings.update", action_kind: "Update" },
  run: async (ctx, { key, body }) => {
    checkKey(key);
    const value = body.value === null ? undefined : await settle(ctx, key, body.value);
    const shown = masked(key, definitionOf(key), value);
    const parameters = { value: (JSON.stringify(shown) ?? "null").slice(0, AUDITED) };
    await ctx.write({ resource: key, parameters }, async (tx) => {
      await ctx.app.settings.put(tx, key, value, ctx.caller.identity.email);
      if (!isSettled(ctx.app, key)) await FOLLOWED[key as SettingKey]?.(ctx.app, tx, value as string);
    });
    return confirm(ctx.app, key, value === undefined);
  },
});

/** What more than a form is asked of a value. @throws BadRequest */
const MEANT: { [K in SettingKey]?: (app: App, value: string) => unknown } = {
  license_key: checkLicenseKey,
  license_public_key: (_app, value) => splitKeys(value),
  saml_metadata: (app, value) => isUrl(value) || readMetadata(value, app.clock()),
};

/** What is stored elsewhere of a setting, and follows it in its transaction. */
const FOLLOWED: { [K in SettingKey]?: (app: App, tx: Tx, value: string | undefined) => Promise<void> } = {
  instance_events_webhook: storeInstanceWebhook,
};

/** Whether a flag or the environment says what a setting is, whatever is stored. */
function isSettled(app: App, key: string): boolean {
  const { source } = app.settings.find(key);
  return source === "environment" || source === "flag";
}

async function settle(ctx: UserContext, key: string, given: unknown): Promise<unknown> {
  const { app } = ctx;
  if (!definitionOf(key)) refuseProcessSetting(key);
  const value = check(key, unmasked(key, definitionOf(key), given, app.settings.find(key).value));
  try {
    if (Object.hasOwn(MEANT, key)) await MEANT[key as SettingKey]!(app, value as string);
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    const { hint } = cause;
    throw new BadRequest(`setting ${key} must be ${definitionOf(key)?.allowed} (${cause.message})`, {
      cause,
      ...(hint ? { hint } : {}),
    });
  }
  return value;
}

function confirm(app: App, key: string, removed: boolean): string {
  const done = removed ? `removed setting ${key}` : `set ${key}`;
  if (!removed && !definitionOf(key))
    return `${done}, which is not a known setting: it is kept, and changes nothing`;
  if (!isSettled(app, key)) return done;
  const { source } = app.settings.find(key);
  const winner = source === "flag" ? "a flag of the server" : variableFor(key, SETTINGS);
  return `${done}, which has no effect: ${winner} is set and wins`;
}

export const getLocalSettings = operation({
  name: "getLocal",
  method: "GET",
  path: "/settings/local",
  access: "devops",
  summary: "List the settings of this server's process, and where each is from; secrets stay hidden",
  responds: responds.json(z.record(z.string(), ProcessSetting)),
  run: (ctx) => describeProcess(ctx.app.config),
});

export const listGlobalSettings = operation({
  name: "listGlobalSettings",
  method: "GET",
  path: "/settings/list_global",
  access: "devops",
  summary: "List the settings of the instance, and where each is from; secrets stay hidden",
  query: z.object({
    /** With those that nobody has set. */
    all: flag.default(false),
  }),
  responds: responds.json(z.array(GlobalSetting)),
  run: (ctx, { query }) => {
    const { settings } = ctx.app;
    const keys = query.all ? new Set([...Object.keys(KEYS), ...settings.keys()]) : settings.keys();
    return [...keys].sort().map((name) => listed(name, settings.find(name)));
  },
});

function listed(name: string, { value, source }: { value: unknown; source: Source }) {
  const definition = definitionOf(name);
  return {
    name,
    value: masked(name, definition, value) ?? null,
    source,
    ...(definition ? { variable: variableFor(name, SETTINGS), meaning: definition.meaning } : {}),
  };
}

export const settingOperations: Operation[] = [
  getGlobalSetting,
  setGlobalSetting,
  getLocalSettings,
  listGlobalSettings,
];
