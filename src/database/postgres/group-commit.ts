/**
 * Group commit on PostgreSQL: concurrent writes that consist of batched statements only are committed together. Each
 * statement runs once for the rows of all writes; writes that arrive during a commit join the next group. A write
 * resolves after the commit. Submissions of many jobs have groups of their own (`postgres.ts`).
 *
 * A group is atomic. If it fails, it is split in halves until the failing write is alone, which then runs separately.
 *
 * A write takes part if it consists of statements declared by `prepareBatchedStatement`. Both commits of a synchronous webhook
 * do: the submission of its job and its completion.
 */
import { type CommitStats, countCommit } from "../database.ts";
import type { Connections } from "./connections.ts";
import type { AnyStatement, RowBatchStatement, Values } from "./statements.ts";

/** A batched statement requested by a write. */
export interface BatchedCall {
  declared: AnyStatement;
  parameters: Values;
}

/** The statements and locks of one write. */
export interface BatchRequest {
  calls: readonly BatchedCall[];
  /** Names to lock in shared mode. */
  shares: readonly string[];
}

interface PendingRequest extends BatchRequest {
  resolve: (stored: boolean) => void;
  reject: (cause: unknown) => void;
}

const MAX_WRITES = 256;
/** Rows of a group after which it takes no more writes. */
const MAX_ROWS = 4_000;

/** Lock timeout of a group; the write that waits longer for a row then runs separately. */
const LOCK_TIMEOUT_MS = 250;

const sharedLockSql = (parameter: string) =>
  `SELECT count(pg_advisory_xact_lock_shared(hashtextextended(name, 0))::text)
   FROM json_array_elements_text(${parameter}::text::json) AS given(name)`;

/** Takes shared locks on the names of a JSON array. */
export const SHARED_LOCK_SQL = sharedLockSql("$1");

/** Batched statements find their rows by index; a plan made while the table was empty would scan all of it. */
const BATCH_SETTINGS_SQL = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('lock_timeout', $1, true)`;
/** One statement for both, because the hot path has no round trip to spare. */
const BATCH_SETTINGS_AND_LOCK_SQL = `${BATCH_SETTINGS_SQL}, (${sharedLockSql("$2")})`;

export interface GroupCommit {
  /**
   * Stores a write together with others. Its shared locks are held from before its first statement's snapshot to the
   * end.
   * @returns false, without changes, if it cannot be stored in a batch
   * @throws errors that concern the whole database
   */
  store(wanted: BatchRequest): Promise<boolean>;
}

export function createGroupCommit(
  reach: Connections["withClient"],
  joinedOf: (declared: AnyStatement) => Promise<RowBatchStatement>,
  counters: CommitStats,
): GroupCommit {
  let queue: PendingRequest[] = [];
  let running = false;

  async function run(): Promise<void> {
    // Lets the other writes of this turn of the event loop join.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const count = countFitting(queue);
      const group = queue.slice(0, count);
      queue = queue.slice(count);
      await commit(group);
    }
    running = false;
  }

  async function commit(group: PendingRequest[]): Promise<void> {
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

  /**
   * Commits the requests of a group in one transaction.
   * @returns false, without changes, if any of them cannot be stored
   */
  async function storeAll(group: readonly PendingRequest[]): Promise<boolean> {
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
    const statements: { joined: RowBatchStatement; rows: Values[] }[] = [];
    for (const [declared, rows] of wanted) statements.push({ joined: await joinedOf(declared), rows });
    return reach(async (client) => {
      const connection = await client.reserve();
      try {
        // Pipelined: all statements are sent before the first response. If one fails, COMMIT becomes a rollback.
        const under_way = [
          connection`BEGIN`,
          // Each statement takes a new snapshot, so later ones see what was committed before the locks were taken.
          shared.size > 0
            ? connection.unsafe(BATCH_SETTINGS_AND_LOCK_SQL, [
                String(LOCK_TIMEOUT_MS),
                JSON.stringify([...shared].sort()),
              ])
            : connection.unsafe(BATCH_SETTINGS_SQL, [String(LOCK_TIMEOUT_MS)]),
          ...statements.map(({ joined, rows }) => connection.unsafe(joined.text, joined.bind(rows))),
          connection`COMMIT`,
        ];
        const outcomes = await Promise.allSettled(under_way);
        const failed = outcomes.find((outcome) => outcome.status === "rejected");
        if (failed && !isStatementError(failed.reason)) throw failed.reason;
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

/** Returns the number of rows that a write changes. */
export function countRows(calls: readonly BatchedCall[]): number {
  return calls.reduce((sum, { declared, parameters }) => sum + declared.affectedRows(parameters as never), 0);
}

/** Returns how many of these requests, from the first on, a group takes: at least one. */
function countFitting(requests: readonly BatchRequest[]): number {
  let rows = 0;
  let count = 0;
  while (count < Math.min(requests.length, MAX_WRITES) && rows < MAX_ROWS)
    rows += countRows(requests[count++]!.calls);
  return count;
}

/**
 * Whether an error concerns one of the statements: its data (SQLSTATE classes 22 and 23; a missing row is reported as
 * 22012, division_by_zero) or a conflict (40, and 55P03, lock_not_available). Any other error would affect every write.
 */
function isStatementError(cause: unknown): boolean {
  return /^(22|23|40|55P03)/.test((cause as { errno?: string }).errno ?? "");
}
