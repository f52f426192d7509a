/**
 * Settings of the instance, held in memory so that reads are synchronous. A change is visible in this process at its
 * commit, and on other servers within REFRESH_INTERVAL_MS. They are notified, but CLI commands do not listen, and a
 * server may crash between commit and notification.
 *
 * Precedence: flag or environment variable, stored value, default.
 *
 * All known keys are in `instance-settings.ts`; a setting that has a flag or a variable of the process names it there.
 * Code on every floor calls `app.settings.get(key)` at the moment it needs the value, so that changes take effect at
 * once.
 */
import { eq } from "drizzle-orm";
import type { Database, Tx } from "../../database/database.ts";
import type { Service } from "../../lib/async/service.ts";
import { decryptText, encryptText } from "../../lib/crypto/seal.ts";
import { BadRequest } from "../../lib/errors.ts";
import { parseSchemaJson } from "../../lib/json/json.ts";
import type { Log } from "../../lib/logging/log.ts";
import { createUuid } from "../../lib/text/ids.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";
import { type Config, type ConfigSource, PROCESS_SETTINGS } from "./config.ts";
import {
  findDefinition,
  getEnvironmentVariable,
  INSTANCE_SETTINGS,
  type SettingKey,
  type SettingValue,
} from "./instance-settings.ts";
import { hasUrlCredentials } from "./masking.ts";
import { parseSettingValue } from "./parse-setting.ts";
import { readVariable } from "./setting.ts";
import { instanceSettings } from "./tables.ts";

/** Longest time that another server of the database may use the previous value. */
const REFRESH_INTERVAL_MS = 5_000;

/** Origin of a value. */
export type SettingSource = ConfigSource | "stored";

export interface SettingWithSource {
  /** Undefined: not set and without a default. */
  value: unknown;
  source: SettingSource;
}

/** The settings; as a service it reloads changes of other servers from `start` to `stop`. */
export interface Settings extends Service {
  /** Returns the effective value of a known key. */
  get<K extends SettingKey>(key: K): SettingValue<K>;
  /** Returns the effective value of any key, with its origin. */
  find(key: string): SettingWithSource;
  /** Keys that are stored or set by the environment, sorted. */
  keys(): string[];
  /** Stores a checked value in the transaction; undefined deletes it. Readers see it at the commit. */
  put(tx: Tx, key: string, value: unknown, by: string): Promise<void>;
}

/** Author of settings that the server creates itself. */
const SERVER_AUTHOR = "svc";

/** The parts of the app that the settings use. */
export interface SettingsApp {
  config: Config;
  db: Database;
  log: Log;
  clock: () => Date;
  instanceKey: Uint8Array;
  /** Notifies the other servers of a change, and receives their notifications. */
  bus: {
    publish(topic: string): void;
    subscribe(topic: string, listener: () => void): void;
    onMissed(look: () => void): void;
  };
}

/**
 * Opens the settings: loads the stored ones and parses the environment.
 * @throws BadRequest if an environment variable holds an invalid value
 */
export async function openSettings(
  app: SettingsApp,
  environment: Record<string, string | undefined> = process.env,
): Promise<Settings> {
  const { db } = app;
  const given = readEnvironment(environment);
  let stored = new Map<string, Stored>();
  /** Counts local changes: a reload that began before a change is discarded. */
  let changes = 0;

  async function refresh(): Promise<void> {
    const before = changes;
    const rows = await db.read.select().from(instanceSettings);
    if (changes !== before) return;
    stored = new Map(
      rows.flatMap((row) => {
        const known = stored.get(row.key);
        const read = known?.text === row.value ? known : decryptRow(app, row);
        return read ? [[row.key, read]] : [];
      }),
    );
  }

  const interval_ms = db.channel ? REFRESH_INTERVAL_MS : Number.POSITIVE_INFINITY;
  const task = createPeriodicTask(
    { clock: () => new Date(), log: app.log },
    {
      failure_message: "the settings could not be reloaded",
      first_delay_ms: interval_ms,
      interval_ms,
      run: refresh,
    },
  );

  const settings: Settings = {
    get: (key) => settings.find(key).value as never,
    find(key) {
      const definition = findDefinition(key);
      const name = definition?.config;
      if (name !== undefined && app.config.sources[name] !== "default") {
        return { value: app.config[name], source: app.config.sources[name] };
      }
      if (given.has(key)) return { value: given.get(key), source: "environment" };
      const found = stored.get(key);
      if (found) return { value: found.value, source: "stored" };
      return { value: name === undefined ? definition?.default : app.config[name], source: "default" };
    },
    keys: () => [...new Set([...stored.keys(), ...given.keys(), ...listProcessKeys(app.config)])].sort(),
    async put(tx, key, value, by) {
      if (value === undefined) {
        await tx.delete(instanceSettings).where(eq(instanceSettings.key, key));
        tx.afterCommit(() => {
          changes++;
          stored.delete(key);
          app.bus.publish("settings");
        });
        return;
      }
      const sealed = isEncrypted(key) || hasUrlCredentials(value);
      const plain = JSON.stringify(value);
      const row = {
        value: sealed ? encryptText(app.instanceKey, plain, settingPurpose(key)) : plain,
        sealed,
        updated_at: app.clock(),
        updated_by: by,
      };
      await tx
        .insert(instanceSettings)
        .values({ key, ...row })
        .onConflictDoUpdate({ target: instanceSettings.key, set: row });
      tx.afterCommit(() => {
        changes++;
        stored.set(key, { text: row.value, value });
        app.bus.publish("settings");
      });
    },
    start: task.start,
    stop: task.stop,
  };

  await refresh();
  if (settings.get("uid") === undefined) await nameInstance();
  app.bus.subscribe("settings", task.wake);
  app.bus.onMissed(task.wake);
  return settings;

  async function nameInstance(): Promise<void> {
    await db.write(async (tx) => {
      await tx.lock("instance uid");
      const [row] = await tx.select().from(instanceSettings).where(eq(instanceSettings.key, "uid"));
      if (!row) await settings.put(tx, "uid", createUuid(), SERVER_AUTHOR);
    });
    await refresh();
  }
}

interface Stored {
  /** The column's text. */
  text: string;
  value: unknown;
}

/** Whether the value of a key is stored encrypted. Those of unknown keys are too, since they may be secret. */
function isEncrypted(key: string): boolean {
  const definition = findDefinition(key);
  return definition === undefined || definition.secret !== undefined;
}

const settingPurpose = (key: string) => `instance setting ${key}`;

/** Returns undefined for an unreadable row; the reason is logged, and the setting counts as not set. */
function decryptRow(
  app: Pick<SettingsApp, "instanceKey" | "log">,
  row: typeof instanceSettings.$inferSelect,
): Stored | undefined {
  const plain = row.sealed ? decryptText(app.instanceKey, row.value, settingPurpose(row.key)) : row.value;
  if (plain === undefined) {
    app.log.error(
      { setting: row.key },
      "the setting was encrypted with another instance key: it counts as not set",
    );
    return undefined;
  }
  try {
    return { text: row.value, value: parseSettingValue(row.key, parseSchemaJson(plain)) };
  } catch (cause) {
    app.log.error(
      { setting: row.key, error: String(cause) },
      "the setting cannot be read: it counts as not set",
    );
    return undefined;
  }
}

/** Lists known keys whose value comes from flags or variables of the process. */
function listProcessKeys(config: Config): string[] {
  return Object.keys(INSTANCE_SETTINGS).filter((key) => {
    const name = findDefinition(key)?.config;
    return name !== undefined && config.sources[name] !== "default";
  });
}

/** Parses the known keys' environment variables: as text, or as JSON. */
function readEnvironment(environment: Record<string, string | undefined>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const problems: string[] = [];
  for (const key of Object.keys(INSTANCE_SETTINGS)) {
    const variable = getEnvironmentVariable(key, PROCESS_SETTINGS);
    const text = readVariable(environment, variable, findDefinition(key)?.also);
    if (!text || findDefinition(key)?.config) continue;
    try {
      found.set(key, parseSettingValue(key, parseVariable(key, text)));
    } catch (cause) {
      problems.push(`${variable}: ${(cause as Error).message}`);
    }
  }
  if (problems.length > 0) throw new BadRequest(`bad settings:\n${problems.join("\n")}`);
  return found;
}

function parseVariable(key: string, text: string): unknown {
  if (findDefinition(key)!.schema.safeParse(text).success) return text;
  try {
    return parseSchemaJson(text);
  } catch {
    return text;
  }
}
