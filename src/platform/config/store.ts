/**
 * What is set for the instance, held in memory so that it can be read without waiting. A change is told to readers of
 * this process with its commit. Of several servers on one PostgreSQL the others are told, and read it within REFRESH_MS at
 * the latest: commands do not listen, and a server can end between its commit and telling of it.
 *
 * Who wins: a flag or an environment variable, then what is stored, then the default.
 */
import { eq } from "drizzle-orm";
import type { Database, Tx } from "../../database/database.ts";
import type { Service } from "../../lib/async/start-stop.ts";
import { seal, unseal } from "../../lib/crypto/seal.ts";
import { BadRequest } from "../../lib/errors.ts";
import { parseFields } from "../../lib/json/json.ts";
import type { Log } from "../../lib/logging/log.ts";
import { newJobId } from "../../lib/text/ids.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";
import { check } from "./check.ts";
import { type Config, type ConfigSource, SETTINGS } from "./config.ts";
import { definitionOf, KEYS, type SettingKey, type SettingValue, variableFor } from "./keys.ts";
import { instanceSettings } from "./tables.ts";

/** How long another server of the same database may go on with what was set before, at most. */
const REFRESH_MS = 5_000;

/** Where a value is from. */
export type Source = ConfigSource | "stored";

export interface Found {
  /** Undefined: not set, and without a default. */
  value: unknown;
  source: Source;
}

/** A service: from `start` to `stop` what other servers set is read again now and then. */
export interface Settings extends Service {
  /** What holds for a known key now. */
  get<K extends SettingKey>(key: K): SettingValue<K>;
  /** The same for any key, with where it is from. */
  find(key: string): Found;
  /** Keys that are stored or come from the environment, in order. */
  keys(): string[];
  /** Stores a checked value in the transaction; undefined removes what is stored. Readers see it with the commit. */
  put(tx: Tx, key: string, value: unknown, by: string): Promise<void>;
}

/** Who set what nobody has asked for. */
const SERVER = "svc";

/** What the settings need of the app they are part of. */
export interface SettingsApp {
  config: Config;
  db: Database;
  log: Log;
  clock: () => Date;
  instanceKey: Uint8Array;
  /** Tells the other servers of a change, and hears of theirs. */
  relay: {
    tell(topic: string): void;
    on(topic: string, hear: () => void): void;
    onGap(look: () => void): void;
  };
}

/**
 * Reads what is stored and what the environment says.
 * @throws BadRequest when an environment variable holds what its key cannot be
 */
export async function openSettings(
  app: SettingsApp,
  environment: Record<string, string | undefined> = process.env,
): Promise<Settings> {
  const { db } = app;
  const given = readEnvironment(environment);
  let stored = new Map<string, Stored>();
  /** Counts changes made here: a reading that began before one is out of date when it ends. */
  let changes = 0;

  async function refresh(): Promise<void> {
    const before = changes;
    const rows = await db.read.select().from(instanceSettings);
    if (changes !== before) return;
    stored = new Map(
      rows.flatMap((row) => {
        const known = stored.get(row.key);
        const read = known?.text === row.value ? known : readRow(app, row);
        return read ? [[row.key, read]] : [];
      }),
    );
  }

  const interval_ms = db.channel ? REFRESH_MS : Number.POSITIVE_INFINITY;
  const task = createPeriodicTask(
    { clock: () => new Date(), log: app.log },
    { failure: "the settings could not be read again", first_ms: interval_ms, interval_ms, run: refresh },
  );

  const settings: Settings = {
    get: (key) => settings.find(key).value as never,
    find(key) {
      const definition = definitionOf(key);
      const name = definition?.config;
      if (name !== undefined && app.config.sources[name] !== "default") {
        return { value: app.config[name], source: app.config.sources[name] };
      }
      if (given.has(key)) return { value: given.get(key), source: "environment" };
      const found = stored.get(key);
      if (found) return { value: found.value, source: "stored" };
      return { value: name === undefined ? definition?.default : app.config[name], source: "default" };
    },
    keys: () => [...new Set([...stored.keys(), ...given.keys(), ...configured(app.config)])].sort(),
    async put(tx, key, value, by) {
      if (value === undefined) {
        await tx.delete(instanceSettings).where(eq(instanceSettings.key, key));
        tx.afterCommit(() => {
          changes++;
          stored.delete(key);
          app.relay.tell("settings");
        });
        return;
      }
      const sealed = isSealed(key);
      const plain = JSON.stringify(value);
      const row = {
        value: sealed ? seal(app.instanceKey, plain, boundTo(key)) : plain,
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
        app.relay.tell("settings");
      });
    },
    start: task.start,
    stop: task.stop,
  };

  await refresh();
  if (settings.get("uid") === undefined) await nameInstance();
  app.relay.on("settings", task.wake);
  app.relay.onGap(task.wake);
  return settings;

  async function nameInstance(): Promise<void> {
    await db.write(async (tx) => {
      await tx.lock("instance uid");
      const [row] = await tx.select().from(instanceSettings).where(eq(instanceSettings.key, "uid"));
      if (!row) await settings.put(tx, "uid", newJobId(), SERVER);
    });
    await refresh();
  }
}

interface Stored {
  /** As the row has it. */
  text: string;
  value: unknown;
}

/** What nobody here knows may be a secret too. */
function isSealed(key: string): boolean {
  const definition = definitionOf(key);
  return definition === undefined || definition.secret !== undefined;
}

const boundTo = (key: string) => `instance setting ${key}`;

/** Undefined for a row that cannot be read; the log says why, and the setting counts as not set. */
function readRow(
  app: Pick<SettingsApp, "instanceKey" | "log">,
  row: typeof instanceSettings.$inferSelect,
): Stored | undefined {
  const plain = row.sealed ? unseal(app.instanceKey, row.value, boundTo(row.key)) : row.value;
  if (plain === undefined) {
    app.log.error(
      { setting: row.key },
      "the setting was sealed with another instance key: it counts as not set",
    );
    return undefined;
  }
  try {
    return { text: row.value, value: check(row.key, parseFields(plain)) };
  } catch (cause) {
    app.log.error(
      { setting: row.key, error: String(cause) },
      "the setting cannot be read: it counts as not set",
    );
    return undefined;
  }
}

/** Known keys that flags or variables of the process settle. */
function configured(config: Config): string[] {
  return Object.keys(KEYS).filter((key) => {
    const name = definitionOf(key)?.config;
    return name !== undefined && config.sources[name] !== "default";
  });
}

/** Known keys whose variable is set: its text, or the JSON in it. */
function readEnvironment(environment: Record<string, string | undefined>): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const problems: string[] = [];
  for (const key of Object.keys(KEYS)) {
    const variable = variableFor(key, SETTINGS);
    const text = environment[variable];
    if (!text || definitionOf(key)?.config) continue;
    try {
      found.set(key, check(key, toValue(key, text)));
    } catch (cause) {
      problems.push(`${variable}: ${(cause as Error).message}`);
    }
  }
  if (problems.length > 0) throw new BadRequest(`bad settings:\n${problems.join("\n")}`);
  return found;
}

function toValue(key: string, text: string): unknown {
  if (definitionOf(key)!.schema.safeParse(text).success) return text;
  try {
    return parseFields(text);
  } catch {
    return text;
  }
}
