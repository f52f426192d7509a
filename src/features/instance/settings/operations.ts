import type { Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, SvcError } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { PROCESS_SETTINGS } from "../../../platform/config/config.ts";
import {
  describeProcessSettings,
  ProcessSetting,
  requireInstanceSetting,
} from "../../../platform/config/describe-process-settings.ts";
import {
  findDefinition,
  getEnvironmentVariable,
  INSTANCE_SETTINGS,
  type SettingKey,
} from "../../../platform/config/instance-settings.ts";
import { hasUrlCredentials, maskSetting, unmaskSetting } from "../../../platform/config/masking.ts";
import { parseSettingKey, parseSettingValue } from "../../../platform/config/parse-setting.ts";
import type { SettingSource } from "../../../platform/config/settings-store.ts";
import { type Operation, operation, queryBoolean, responds } from "../../../platform/http/operation.ts";
import { storeInstanceWebhook } from "../../signals/webhooks/endpoints.ts";
import { parseLicenseKey } from "../../tenancy/license/service.ts";
import { parsePublicKeys } from "../../tenancy/license/signed-license.ts";
import { readMetadata } from "../saml/metadata.ts";
import { isMetadataUrl } from "../saml/operations.ts";

const GlobalSetting = z.object({
  name: z.string(),
  value: z.unknown(),
  /** The effective source: flags and the environment override the stored value. */
  source: z.enum(["flag", "environment", "directory", "stored", "default"]),
  /** The environment variable that overrides the setting. Undefined for unknown keys. */
  variable: z.string().optional(),
  meaning: z.string().optional(),
});

const READ_SECRET_AUDIT = { operation: "settings.read_secret", action_kind: "Execute" } as const;

export const getGlobalSetting = operation({
  name: "getGlobal",
  method: "GET",
  path: "/settings/global/{key}",
  access: "user",
  summary: "Read the effective value of an instance setting; null if it is not set",
  responds: responds.json(z.unknown()),
  audit: READ_SECRET_AUDIT,
  run: async (ctx, { key }) => {
    parseSettingKey(key);
    const definition = findDefinition(key);
    if (!definition?.open && !ctx.caller.identity.super_admin) {
      throw new Forbidden(`setting ${key} is for super admins`);
    }
    const { value, source } = ctx.app.settings.find(key);
    if (source === "default") return null;
    const isSecret = definition === undefined || definition.secret || hasUrlCredentials(value);
    if (isSecret) await ctx.write({ resource: key }, async () => {});
    return value;
  },
});

/** Upper limit of a value's text in audit rows. */
const MAX_AUDITED_CHARS = 200;

export const setGlobalSetting = operation({
  name: "setGlobal",
  method: "POST",
  path: "/settings/global/{key}",
  access: "superAdmin",
  summary: "Set an instance setting, effective at once; null removes it",
  body: z.object({ value: z.unknown() }),
  responds: responds.text("confirmation; it says so where the environment wins"),
  audit: { operation: "settings.update", action_kind: "Update" },
  run: async (ctx, { key, body }) => {
    parseSettingKey(key);
    const value = body.value === null ? undefined : await parseSetting(ctx, key, body.value);
    const shown = maskSetting(key, findDefinition(key), value);
    const parameters = { value: (JSON.stringify(shown) ?? "null").slice(0, MAX_AUDITED_CHARS) };
    await ctx.write({ resource: key, parameters }, async (tx) => {
      await ctx.app.settings.put(tx, key, value, ctx.caller.identity.email);
      if (!isOverridden(ctx.app, key))
        await STORED_ELSEWHERE[key as SettingKey]?.(ctx.app, tx, value as string);
    });
    return describeChange(ctx.app, key, value === undefined);
  },
});

/** Validation beyond the form of a value. @throws BadRequest */
const VALIDATORS: { [K in SettingKey]?: (app: App, value: string) => unknown } = {
  license_key: parseLicenseKey,
  license_public_key: (_app, value) => parsePublicKeys(value),
  saml_metadata: (app, value) => isMetadataUrl(value) || readMetadata(value, app.clock()),
};

/** Settings that are also stored in other tables, updated in the same transaction. */
const STORED_ELSEWHERE: {
  [K in SettingKey]?: (app: App, tx: Tx, value: string | undefined) => Promise<void>;
} = {
  instance_events_webhook: storeInstanceWebhook,
};

/** Whether a flag or the environment overrides the stored value. */
function isOverridden(app: App, key: string): boolean {
  const { source } = app.settings.find(key);
  return source === "environment" || source === "flag";
}

async function parseSetting(ctx: UserContext, key: string, given: unknown): Promise<unknown> {
  const { app } = ctx;
  if (!findDefinition(key)) requireInstanceSetting(key);
  const value = parseSettingValue(
    key,
    unmaskSetting(key, findDefinition(key), given, app.settings.find(key).value),
  );
  try {
    if (Object.hasOwn(VALIDATORS, key)) await VALIDATORS[key as SettingKey]!(app, value as string);
  } catch (cause) {
    if (!(cause instanceof SvcError)) throw cause;
    const { hint } = cause;
    throw new BadRequest(`setting ${key} must be ${findDefinition(key)?.allowed} (${cause.message})`, {
      cause,
      ...(hint ? { hint } : {}),
    });
  }
  return value;
}

function describeChange(app: App, key: string, removed: boolean): string {
  const done = removed ? `removed setting ${key}` : `set ${key}`;
  if (!findDefinition(key)) {
    return `${done}, which is not a known setting${removed ? "" : ": it is kept, and changes nothing"}`;
  }
  if (!isOverridden(app, key)) return done;
  const { source } = app.settings.find(key);
  const winner = source === "flag" ? "a flag of the server" : getEnvironmentVariable(key, PROCESS_SETTINGS);
  return `${done}, which has no effect: ${winner} is set and wins`;
}

export const getLocalSettings = operation({
  name: "getLocal",
  method: "GET",
  path: "/settings/local",
  access: "devops",
  summary: "List the settings of this server's process with their sources; secrets are masked",
  responds: responds.json(z.record(z.string(), ProcessSetting)),
  run: (ctx) => describeProcessSettings(ctx.app.config),
});

export const listGlobalSettings = operation({
  name: "listGlobalSettings",
  method: "GET",
  path: "/settings/list_global",
  access: "devops",
  summary: "List the settings of the instance with their sources; secrets are masked",
  query: z.object({
    /** Includes settings that are not set. */
    all: queryBoolean.default(false),
  }),
  responds: responds.json(z.array(GlobalSetting)),
  run: (ctx, { query }) => {
    const { settings } = ctx.app;
    const keys = query.all
      ? new Set([...Object.keys(INSTANCE_SETTINGS), ...settings.keys()])
      : settings.keys();
    return [...keys].sort().map((name) => toListedSetting(name, settings.find(name)));
  },
});

function toListedSetting(name: string, { value, source }: { value: unknown; source: SettingSource }) {
  const definition = findDefinition(name);
  return {
    name,
    value: maskSetting(name, definition, value) ?? null,
    source,
    ...(definition
      ? { variable: getEnvironmentVariable(name, PROCESS_SETTINGS), meaning: definition.meaning }
      : {}),
  };
}

export const settingOperations: Operation[] = [
  getGlobalSetting,
  setGlobalSetting,
  getLocalSettings,
  listGlobalSettings,
];
