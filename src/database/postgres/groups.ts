/**
 * Group commit on PostgreSQL: writes that consist of shared statements alone go together, those that come while one
 * group is under way in the next, each statement run once for all rows of all of them. Whoever wrote is answered after
 * the commit.
 *
 * A group holds whole or not at all. One that does not is halved until the write in whose way something is stands alone,
 * which is then done by itself.
 */
import { type CommitStats, countCommit } from "../database.ts";
import type { Connections } from "./connections.ts";
import type { AnyStatement, Joined, Values } from "./statements.ts";

/** A shared statement that a write wants to be run. */
export interface Call {
  declared: AnyStatement;
  parameters: Values;
}

/** What one write wants. */
export interface Wanted {
  calls: readonly Call[];
  /** Names that nobody may hold meanwhile. */
  shares: readonly string[];
}

interface Waiting extends Wanted {
  resolve: (stored: boolean) => void;
  reject: (cause: unknown) => void;
}

const MAX_WRITES = 256;

/** How long a group waits for a row that another transaction holds, before the one that wants it goes by itself. */
const LOCK_MS = 250;

const shareOf = (parameter: string) =>
  `SELECT count(pg_advisory_xact_lock_shared(hashtextextended(name, 0))::text)
   FROM json_array_elements_text(${parameter}::text::json) AS given(name)`;

/** Takes part in holding the names of a JSON array. */
export const SHARE = shareOf("$1");

/** Every shared statement finds its row by an index; planned while the table was empty, it would read all of it. */
const SETTINGS = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('lock_timeout', $1, true)`;
/** In one statement with the settings: the hot path has no way to spare. */
const SETTINGS_AND_SHARE = `${SETTINGS}, (${shareOf("$2")})`;

export interface Groups {
  /**
   * Stores what one write wants, with what others want. No other transaction holds a name that it shares, from before
   * its first statement sees what is stored to its end.
   * @returns false when it cannot be stored as it is: nothing was
   * @throws what the database says when it cannot store anything
   */
  store(wanted: Wanted): Promise<boolean>;
}

export function createGroups(
  reach: Connections["reach"],
  joinedOf: (declared: AnyStatement) => Promise<Joined>,
  counters: CommitStats,
): Groups {
  let queue: Waiting[] = [];
  let running = false;

  async function run(): Promise<void> {
    // What else comes in this turn goes along.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const group = queue.slice(0, MAX_WRITES);
      queue = queue.slice(MAX_WRITES);
      await commit(group);
    }
    running = false;
  }

  async function commit(group: Waiting[]): Promise<void> {
    const began = performance.now();
    try {
      if (await storeAll(group)) {
        countCommit(counters, group.length, began);
        for (const { resolve } of group) resolve(true);
        return;
      }
    } catch (cause) {
      for (const { reject } of group) reject(cause);
      return;
    }
    if (group.length === 1) return group[0]!.resolve(false);
    const half = group.length >> 1;
    await commit(group.slice(0, half));
    await commit(group.slice(half));
  }

  /** @returns false when one of them cannot be stored: then none is */
  async function storeAll(group: readonly Waiting[]): Promise<boolean> {
    const wanted = new Map<AnyStatement, Values[]>();
    const shared = new Set<string>();
    for (const { calls, shares } of group) {
      for (const name of shares) shared.add(name);
      for (const { declared, parameters } of calls) {
        const rows = wanted.get(declared);
        if (rows) rows.push(parameters);
        else wanted.set(declared, [parameters]);
      }
    }
    const statements: { joined: Joined; rows: Values[] }[] = [];
    for (const [declared, rows] of wanted) statements.push({ joined: await joinedOf(declared), rows });
    return reach(async (client) => {
      const connection = await client.reserve();
      try {
        // Not awaited one by one: all are on their way before the first is answered. A statement that does not do all it is
        // to do fails, and what is to commit rolls back then.
        const under_way = [
          connection`BEGIN`,
          // What follows sees what is stored once the names are held, since each statement looks anew.
          shared.size > 0
            ? connection.unsafe(SETTINGS_AND_SHARE, [String(LOCK_MS), JSON.stringify([...shared].sort())])
            : connection.unsafe(SETTINGS, [String(LOCK_MS)]),
          ...statements.map(({ joined, rows }) => connection.unsafe(joined.text, joined.bind(rows))),
          connection`COMMIT`,
        ];
        const outcomes = await Promise.allSettled(under_way);
        const failed = outcomes.find((outcome) => outcome.status === "rejected");
        if (failed && !isRefusal(failed.reason)) throw failed.reason;
        return !failed;
      } finally {
        connection.release();
      }
    });
  }

  return {
    store({ calls, shares }) {
      return new Promise<boolean>((resolve, reject) => {
        queue.push({ calls, shares, resolve, reject });
        if (running) return;
        running = true;
        void run();
      });
    },
  };
}

/**
 * Whether it is about one of the statements: what it holds (SQLSTATE classes 22 and 23; of a row that it did not find,
 * 22012, division_by_zero), or who is in its way (40, and 55P03, lock_not_available). Anything else is as true of every
 * other write.
 */
function isRefusal(cause: unknown): boolean {
  return /^(22|23|40|55P03)/.test((cause as { errno?: string }).errno ?? "");
}
