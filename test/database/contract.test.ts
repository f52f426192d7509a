/** What the rest of the program relies on in storage, on whichever database DATABASE_URL selects. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { batchedStatement, type Database, statement, type Tx } from "../../src/database/database.ts";
import { dialect } from "../../src/database/kit.ts";
import { migrateDatabase } from "../../src/database/migrations/migrate.ts";
import { openDatabase } from "../../src/database/open-database.ts";
import { auditLog } from "../../src/features/signals/audit/tables.ts";
import { BadRequest } from "../../src/lib/errors.ts";
import { insertEqualJobs } from "../../src/platform/queue/job-store.ts";
import { type Job, jobs, type NewJob } from "../../src/platform/queue/tables.ts";
import { createDatabase, until } from "../support/harness.ts";

const onSqlite = dialect === "sqlite";
let folder: string;
let server: Awaited<ReturnType<typeof createDatabase>> | undefined;
let db: Database;

// Closures of these tests wait for each other, and so are run once.
const rehearse = process.env.SVC_TEST_REHEARSE_WRITES;
beforeAll(() => {
  process.env.SVC_TEST_REHEARSE_WRITES = "";
});
afterAll(() => {
  process.env.SVC_TEST_REHEARSE_WRITES = rehearse ?? "";
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-contract-"));
  server = process.env.DATABASE_URL ? await createDatabase(process.env.DATABASE_URL) : undefined;
  db = await openDatabase({ data_dir: folder, database_url: server?.url, max_bytes: 0, max_connections: 4 });
  await migrateDatabase(db);
});
afterEach(async () => {
  await db.close();
  await server?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const moment = new Date("2024-02-29T12:34:56.789Z");

const job = (id: string, more: Partial<NewJob> = {}): NewJob => ({
  id,
  workspace_id: "acme",
  kind: "script",
  state: "queued",
  created_by: "ann",
  permissioned_as: "u/ann",
  email: "ann@example.org",
  created_at: moment,
  scheduled_for: moment,
  tag: "bun",
  args: "{}",
  ...more,
});

const add = (id: string, more?: Partial<NewJob>) =>
  db.write(async (tx) => {
    await tx.insert(jobs).values(job(id, more));
    return id;
  });

const ids = async () =>
  (await db.read.select({ id: jobs.id }).from(jobs).orderBy(asc(jobs.id))).map((row) => row.id);

const find = async (id: string) => (await db.read.select().from(jobs).where(eq(jobs.id, id)))[0];

/** A promise that somebody else resolves. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, open: resolve };
}

describe("write", () => {
  test("concurrent writes are all stored, each with its own result", async () => {
    const wanted = Array.from({ length: 200 }, (_, n) => `job-${String(n).padStart(3, "0")}`);
    expect(await Promise.all(wanted.map((id) => add(id)))).toEqual(wanted);
    expect(await ids()).toEqual(wanted);
    expect(db.stats().writes).toBeGreaterThanOrEqual(200);
    if (onSqlite) expect(db.stats().commits).toBeLessThan(100);
  });

  test("a write that throws is rolled back alone", async () => {
    const failing = db.write(async (tx) => {
      await tx.insert(jobs).values(job("b"));
      throw new BadRequest("no");
    });
    const answers = await Promise.allSettled([add("a"), failing, add("c")]);
    expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await ids()).toEqual(["a", "c"]);
  });

  test("the caller gets the error that its work threw, alone and in a batch", async () => {
    const thrower = (error: Error) =>
      db.write(async () => {
        throw error;
      });
    const caught = (error: Error) => thrower(error).catch((thrown) => thrown);
    for (const error of [new BadRequest("mine"), new TypeError("a bug")]) {
      expect(await caught(error)).toBe(error);
      const [inCompany] = await Promise.all([caught(error), add(error.name)]);
      expect(inCompany).toBe(error);
    }
    expect(await ids()).toEqual(["BadRequest", "TypeError"]);
  });

  test("a statement that the database refuses fails its own write only, without parameters in the error", async () => {
    await add("taken", { args: '{"secret":"hush"}' });
    const answers = await Promise.allSettled([
      add("a"),
      add("taken", { args: '{"secret":"hush"}' }),
      add("c"),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const { reason } = answers[1] as PromiseRejectedResult;
    expect(reason.name).toBe("Internal");
    expect(reason.message).not.toContain("hush");
    expect(await ids()).toEqual(["a", "c", "taken"]);
  });

  test("a write without durability is committed at once and flushed soon after", async () => {
    const { commits } = db.stats();
    const told: string[] = [];
    const lazily = (id: string) =>
      db.write(
        async (tx) => {
          tx.afterCommit(() => told.push(id));
          await tx.insert(jobs).values(job(id));
          return id;
        },
        { lazy: true },
      );
    expect(await lazily("a")).toBe("a");
    expect([await ids(), told]).toEqual([["a"], ["a"]]);
    // Of the same turn as one that fails, and as one that waits.
    const refused = expect(lazily("a")).rejects.toThrow("rejected");
    expect(await Promise.all([lazily("b"), add("c")])).toEqual(["b", "c"]);
    await refused;
    expect([await ids(), told]).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
    if (!onSqlite) return;
    // The flush that nobody asked for is a commit of its own.
    const before = db.stats().commits;
    expect(before).toBeGreaterThan(commits);
    await lazily("d");
    await until(() => (db.stats().commits >= before + 2 ? true : undefined), "the flush");
  });

  test("a transaction sees its own changes; read sees only what is committed", async () => {
    const [written, held] = [gate(), gate()];
    const writing = db.write(async (tx) => {
      await tx.insert(jobs).values(job("a"));
      expect(await tx.select().from(jobs)).toHaveLength(1);
      written.open();
      await held.promise;
    });
    await written.promise;
    expect(await ids()).toEqual([]);
    held.open();
    await writing;
    expect(await ids()).toEqual(["a"]);
  });

  test("two writes that hold the same lock never overlap", async () => {
    const insertOnce = () =>
      db.write(async (tx) => {
        await tx.lock("the only one");
        if ((await tx.select().from(jobs)).length > 0) return false;
        await tx.insert(jobs).values(job(crypto.randomUUID()));
        return true;
      });
    const answers = await Promise.all(Array.from({ length: 10 }, insertOnce));
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await ids()).toHaveLength(1);
  });
});

test("a declared statement returns numbers as numbers", async () => {
  await add("a", { timeout_s: 7, duration_ms: 2 ** 53 - 1 });
  const numbers = statement<{ id: string }, Record<string, unknown>[]>((queries) =>
    queries
      .select({ timeout_s: jobs.timeout_s, duration_ms: jobs.duration_ms, mem_peak_kb: jobs.mem_peak_kb })
      .from(jobs)
      .where(eq(jobs.id, sql.placeholder("id"))),
  );
  const rows = [...(await db.read.exec(numbers, { id: "a" }))];
  expect(rows).toEqual([{ timeout_s: 7, duration_ms: 2 ** 53 - 1, mem_peak_kb: null }]);
});

describe("shared statements", () => {
  const full = Object.fromEntries(
    Object.keys(getTableColumns(jobs)).map((name) => [
      name,
      (job("") as Record<string, unknown>)[name] ?? null,
    ]),
  ) as unknown as Job;
  for (const name of ["concurrency_blocked", "delete_after_use", "cancel_requested", "deleted"] as const)
    full[name] = false;
  Object.assign(full, {
    visible_to_owner: true,
    priority: 3,
    attempts: 0,
    losses: 0,
    begun: false,
    labels: ["x"],
  });
  const place = (name: string) => sql.placeholder(name);
  const insert = batchedStatement<{ id: string; args: string }, unknown>(
    (queries) => queries.insert(jobs).values({ ...job(""), id: place("id"), args: place("args") } as never),
    () => undefined,
  );
  const start = batchedStatement<{ id: string; worker: string }, { id: string }[]>(
    (queries) =>
      queries
        .update(jobs)
        .set({ state: "running", worker: place("worker") as never, attempts: sql`${jobs.attempts} + 1` })
        .where(and(eq(jobs.id, place("id")), eq(jobs.state, "queued")))
        .returning({ id: jobs.id }),
    ({ id }) => [{ id }],
  );
  const store = (id: string, args = "{}") => db.write((tx) => tx.exec(insert, { id, args }));
  const log = (text: string) => ({
    workspace_id: "acme",
    timestamp: moment,
    username: text,
    email: "a@b.c",
    operation: "o",
    action_kind: "Create",
  });

  test("concurrent writes share few commits, each with its own values", async () => {
    const wanted = Array.from({ length: 600 }, (_, n) => `job-${String(n).padStart(3, "0")}`);
    const { commits } = db.stats();
    await Promise.all(wanted.map((id) => store(id, `{"of":"${id} '\\"ü😀\\u0000"}`)));
    expect(db.stats().commits - commits).toBeLessThan(20);
    const rows = await db.read.select().from(jobs).orderBy(asc(jobs.id));
    expect(rows.map((row) => row.id)).toEqual(wanted);
    for (const { id, args } of rows) expect(args).toBe(`{"of":"${id} '\\"ü😀\\u0000"}`);
  });

  test("an insert of many rows shares a commit and fails its own write only", async () => {
    const rows = (...names: string[]) =>
      db.write((tx) =>
        insertEqualJobs(tx, { ...full, args: `{"of":"${names[0]}"}`, started_at: moment }, names),
      );
    await Promise.all([rows("a", "b", "c"), store("d"), rows("e"), rows()]);
    expect(await ids()).toEqual(["a", "b", "c", "d", "e"]);
    const answers = await Promise.allSettled([rows("f", "g"), rows("h", "a"), store("i"), store("d")]);
    expect(answers.map(({ status }) => status === "fulfilled")).toEqual([true, false, true, false]);
    expect(await ids()).toEqual(["a", "b", "c", "d", "e", "f", "g", "i"]);
    expect(await find("g")).toEqual({ ...full, id: "g", args: '{"of":"f"}', started_at: moment });
    const more = Array.from({ length: 3_000 }, (_, n) => `more-${String(n).padStart(32, "0")}`);
    await rows(...more);
    expect((await ids()).length).toBe(3_008);
  });

  test("a refused statement fails its own write only", async () => {
    await store("taken");
    const names = ["a", "b", "taken", "c", "d"];
    const answers = await Promise.allSettled(names.map((name) => store(name)));
    expect(answers.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, true]);
    expect((answers[2] as PromiseRejectedResult).reason.name).toBe("Internal");
    expect(await ids()).toEqual(["a", "b", "c", "d", "taken"]);
  });

  test.if(!onSqlite)(
    "a text that PostgreSQL cannot keep is refused by name, and its neighbours land",
    async () => {
      const answers = await Promise.allSettled([store("a"), store("b", "\0"), store("c")]);
      expect((answers[1] as PromiseRejectedResult).reason).toBeInstanceOf(BadRequest);
      expect(await ids()).toEqual(["a", "c"]);
    },
  );

  test("a write that changes no row returns none and does not affect others", async () => {
    await Promise.all(["a", "b", "c"].map((id) => store(id)));
    const begin = (id: string, worker: string) =>
      db.write(async (tx) => {
        const rows = await tx.exec(start, { id, worker });
        if (rows.length === 0) return "no";
        await tx.insert(auditLog).values(log(id));
        return "yes";
      });
    const inOneGo = (id: string, worker: string) =>
      db.write(async (tx) => ((await tx.exec(start, { id, worker })).length === 0 ? "no" : "yes"));
    expect(await Promise.all([inOneGo("a", "w"), inOneGo("gone", "w"), inOneGo("b", "w")])).toEqual([
      "yes",
      "no",
      "yes",
    ]);
    // Two want the same row at the same time.
    const answers = await Promise.all([
      inOneGo("c", "one"),
      inOneGo("c", "two"),
      begin("c", "three"),
      begin("gone", "w"),
    ]);
    expect(answers.filter((answer) => answer === "yes")).toHaveLength(1);
    expect(await find("c")).toMatchObject({ state: "running", attempts: 1 });
    expect(await db.read.select().from(auditLog)).toHaveLength(answers[2] === "yes" ? 1 : 0);
  });

  test.if(!onSqlite)("a write whose row is locked waits alone", async () => {
    await Promise.all(["held", "free"].map((id) => store(id)));
    const [taken, done] = [gate(), gate()];
    const holding = db.write(async (tx) => {
      await tx.update(jobs).set({ priority: 1 }).where(eq(jobs.id, "held"));
      taken.open();
      await done.promise;
    });
    await taken.promise;
    let answered = false;
    const begin = (id: string) => db.write((tx) => tx.exec(start, { id, worker: "w" }));
    const waiting = begin("held").finally(() => {
      answered = true;
    });
    expect(await begin("free")).toEqual([{ id: "free" }]);
    await store("another");
    expect(answered).toBe(false);
    done.open();
    await holding;
    expect(await waiting).toEqual([{ id: "held" }]);
    expect(await find("held")).toMatchObject({ state: "running", priority: 1, attempts: 1 });
  });

  describe("where a name is shared", () => {
    const find = batchedStatement<{ id: string }, { id: string }[]>(
      (queries) =>
        queries
          .select({ id: jobs.id })
          .from(jobs)
          .where(and(eq(jobs.id, place("id")), eq(jobs.state, "queued"))),
      ({ id }) => [{ id }],
    );
    const enter = (id: string, first?: (tx: Tx) => Promise<unknown>) =>
      db.write(async (tx) => {
        await first?.(tx);
        await tx.lockShared("the door");
        if ((await tx.exec(find, { id: "door" })).length === 0) return "shut";
        await tx.exec(insert, { id, args: "{}" });
        return "in";
      });

    test("any number of writes share the lock and read the row", async () => {
      await store("door");
      const { commits } = db.stats();
      const all = Array.from({ length: 50 }, (_, n) => enter(`job-${n}`));
      expect(new Set(await Promise.all(all))).toEqual(new Set(["in"]));
      expect(db.stats().commits - commits).toBeLessThan(10);
      expect(await ids()).toHaveLength(51);
    });

    test("they wait for an exclusive holder and then see its changes", async () => {
      await store("door");
      const held = Promise.withResolvers<void>();
      const shut = Promise.withResolvers<void>();
      const closing = db.write(async (tx) => {
        await tx.lock("the door");
        held.resolve();
        await shut.promise;
        await tx.delete(jobs).where(eq(jobs.id, "door"));
      });
      await held.promise;
      const entering = [enter("a"), enter("b"), enter("c", (tx) => tx.insert(auditLog).values(log("c")))];
      // Longer than a group waits for a lock.
      setTimeout(shut.resolve, 400);
      expect(await Promise.all(entering)).toEqual(["shut", "shut", "shut"]);
      await closing;
      expect(await ids()).toEqual([]);
    });

    test.if(!onSqlite)("a write that waits for the lock delays no other write", async () => {
      await store("door");
      const shut = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const closing = db.write(async (tx) => {
        await tx.lock("the door");
        held.resolve();
        await shut.promise;
      });
      await held.promise;
      const [entering, ...others] = [enter("a"), store("b"), store("c")];
      await Promise.all(others);
      shut.resolve();
      expect(await entering).toBe("in");
      await closing;
    });

    test("an exclusive holder waits for them and sees what they stored", async () => {
      await store("door");
      const entered = Promise.withResolvers<void>();
      const going = Promise.withResolvers<void>();
      const entering = db.write(async (tx) => {
        await tx.lockShared("the door");
        await tx.insert(jobs).values(job("a"));
        entered.resolve();
        await going.promise;
      });
      await entered.promise;
      const seen = db.write(async (tx) => {
        await tx.lock("the door");
        return (await tx.select().from(jobs)).length;
      });
      setTimeout(going.resolve, 100);
      expect(await seen).toBe(2);
      await entering;
    });
  });

  test("together with other statements they are one transaction, which rolls back as a whole", async () => {
    const seen = await db.write(async (tx) => {
      await tx.exec(insert, { id: "a", args: "{}" });
      const rows = await tx.select({ id: jobs.id }).from(jobs);
      await tx.exec(insert, { id: "b", args: "{}" });
      return rows;
    });
    expect(seen).toEqual([{ id: "a" }]);
    const failing = async (early: boolean) =>
      db.write(async (tx) => {
        await tx.exec(insert, { id: "c", args: "{}" });
        if (early) throw new BadRequest("no");
        await tx.select().from(jobs);
        throw new BadRequest("no");
      });
    expect((await Promise.allSettled([failing(true), failing(false)])).map(({ status }) => status)).toEqual([
      "rejected",
      "rejected",
    ]);
    expect(await ids()).toEqual(["a", "b"]);
  });

  test("a large value is stored completely", async () => {
    const large = "ü".repeat(300_000);
    await Promise.all([store("a", large), store("b")]);
    expect((await find("a"))!.args).toBe(large);
  });
});

describe("afterCommit", () => {
  test("a callback that throws is logged and affects neither the commit nor other callbacks", async () => {
    const seen: string[] = [];
    const before = globalThis.reportError;
    globalThis.reportError = (cause) => seen.push(String(cause));
    try {
      await db.write(async (tx) => {
        await tx.insert(jobs).values(job("a"));
        tx.afterCommit(() => {
          throw new Error("a listener's mistake");
        });
        tx.afterCommit(() => seen.push("next"));
      });
    } finally {
      globalThis.reportError = before;
    }
    expect(seen).toEqual(["Error: a listener's mistake", "next"]);
    await db.write(async (tx) => tx.insert(jobs).values(job("b")));
    expect(await db.read.select().from(jobs)).toHaveLength(2);
  });

  test("runs once the commit is visible to every reader", async () => {
    const seen = Promise.withResolvers<string[]>();
    let early = true;
    await db.write(async (tx) => {
      tx.afterCommit(() => {
        expect(early).toBe(false);
        seen.resolve(ids());
      });
      await tx.insert(jobs).values(job("a"));
      early = false;
    });
    expect(await seen.promise).toEqual(["a"]);
  });

  test("does not run for a write that was rolled back, alone or in a batch", async () => {
    const ran: string[] = [];
    const write = (name: string, fail: boolean) =>
      db.write(async (tx) => {
        tx.afterCommit(() => ran.push(name));
        if (fail) throw new BadRequest(name);
      });
    await write("alone", true).catch(() => {});
    await Promise.allSettled([write("first", false), write("second", true), write("third", false)]);
    await add("later");
    expect(ran.sort()).toEqual(["first", "third"]);
  });
});

describe("columns", () => {
  const cases: [what: string, values: Partial<NewJob>][] = [
    ["null everywhere", { labels: null, started_at: null, preprocessed: null, priority: 0 }],
    ["json keeps order, unicode and an escaped NUL", { labels: ["z", "a", "ünï 😀", "\u0000", '"'] }],
    ["an empty list is not null", { labels: [] }],
    ["a moment keeps its milliseconds", { started_at: moment }],
    ["a moment before 1970", { started_at: new Date("1901-01-01T00:00:00.001Z") }],
    ["true and false", { preprocessed: true, deleted: false, cancel_requested: true }],
    ["a whole number beyond 32 bits", { duration_ms: 2 ** 53 - 1, priority: -5 }],
  ];
  test.each(cases)("%s", async (_, values) => {
    await add("a", values);
    expect(await find("a")).toMatchObject(values as object);
  });

  test("json of any shape, and a row's number that the database counts up", async () => {
    const row = {
      workspace_id: "acme",
      timestamp: moment,
      username: "ann",
      email: "a@b.c",
      action_kind: "Create",
    };
    await db.write(async (tx) => {
      await tx
        .insert(auditLog)
        .values({ ...row, operation: "one", parameters: { "10": "b", "9": "a", "": "" } });
      await tx.insert(auditLog).values({ ...row, operation: "two" });
    });
    const [first, second] = await db.read.select().from(auditLog).orderBy(asc(auditLog.id));
    expect(first).toMatchObject({ timestamp: moment, parameters: { "10": "b", "9": "a", "": "" } });
    expect(second).toMatchObject({ resource: null, parameters: null });
    expect(second!.id).toBeGreaterThan(first!.id);
  });

  test.each([
    ["declared", statement],
    ["shared", batchedStatement],
  ] as const)("a %s statement stores the same, again and again", async (_, declare) => {
    const place = (name: string) => sql.placeholder(name);
    const build: Parameters<typeof statement>[0] = (queries) => {
      const { id, labels, started_at, preprocessed, ...rest } = job("");
      return queries.insert(jobs).values({
        ...rest,
        id: place("id"),
        labels: place("labels"),
        started_at: place("started_at"),
        preprocessed: place("preprocessed"),
      });
    };
    const insert = declare<Record<string, unknown>, unknown>(build, () => undefined);
    const full = { id: "a", labels: ["x"], started_at: moment, preprocessed: false };
    const empty = { id: "b", labels: null, started_at: null, preprocessed: null };
    for (const values of [full, empty]) {
      await db.write((tx) => tx.exec(insert, values));
      expect(await find(values.id)).toMatchObject(values);
    }
  });
});
