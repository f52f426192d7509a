/** Guarantees of the storage on which other code relies, on the database that DATABASE_URL selects. */
import { describe, expect, test } from "bun:test";
import { asc, eq, sql } from "drizzle-orm";
import { type LogInsert, prepareBatchedStatement, prepareStatement } from "../../src/database/database.ts";
import { auditLog } from "../../src/features/signals/audit/tables.ts";
import { BadRequest } from "../../src/lib/errors.ts";
import { jobs, type NewJob } from "../../src/platform/queue/tables.ts";
import { db, find, gate, ids, job, MOMENT, onSqlite, setUpEmptyDatabase } from "./contract-setup.ts";

setUpEmptyDatabase();

const add = (id: string, more?: Partial<NewJob>) =>
  db.write(async (tx) => {
    await tx.insert(jobs).values(job(id, more));
    return id;
  });

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

  test("rows added to a log are stored with their writes, in order, and not those of a write that throws", async () => {
    const log: LogInsert<string> = {
      insert: (tx, names) => tx.insert(jobs).values(names.map((name) => job(name))),
    };
    const write = (names: string[], error?: Error) =>
      db.write(async (tx) => {
        for (const name of names) await tx.addToLog(log, name);
        if (error) throw error;
      });
    const results = await Promise.allSettled([
      write(["a", "b"]),
      write(["c"]),
      write(["d"], new BadRequest("no")),
      // The database refuses it: there is such a row.
      write(["e", "e"]),
      write(["f"]),
    ]);
    const states = results.map(({ status }) => status);
    expect(states).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "fulfilled"]);
    expect(await ids()).toEqual(["a", "b", "c", "f"]);
    await Promise.all([write(["g"]), write(["h"])]);
    expect(await ids()).toEqual(["a", "b", "c", "f", "g", "h"]);
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

  test("a write without durability is committed at once", async () => {
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
    // In the same turn of the event loop as a failing write, and as one that waits.
    const refused = expect(lazily("a")).rejects.toThrow("rejected");
    expect(await Promise.all([lazily("b"), add("c")])).toEqual(["b", "c"]);
    await refused;
    expect([await ids(), told]).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
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
  const numbers = prepareStatement<{ id: string }, Record<string, unknown>[]>((queries) =>
    queries
      .select({ timeout_s: jobs.timeout_s, duration_ms: jobs.duration_ms, mem_peak_kb: jobs.mem_peak_kb })
      .from(jobs)
      .where(eq(jobs.id, sql.placeholder("id"))),
  );
  const rows = [...(await db.read.exec(numbers, { id: "a" }))];
  expect(rows).toEqual([{ timeout_s: 7, duration_ms: 2 ** 53 - 1, mem_peak_kb: null }]);
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
    ["a moment keeps its milliseconds", { started_at: MOMENT }],
    ["a moment before 1970", { started_at: new Date("1901-01-01T00:00:00.001Z") }],
    ["true and false", { preprocessed: true, deleted: false, cancel_requested: true }],
    ["a whole number beyond 32 bits", { duration_ms: 2 ** 53 - 1, priority: -5 }],
  ];
  test.each(cases)("%s", async (_, values) => {
    await add("a", values);
    expect(await find("a")).toMatchObject(values as object);
  });

  test("JSON of any shape is stored, and rows are numbered by the database", async () => {
    const row = {
      workspace_id: "acme",
      timestamp: MOMENT,
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
    expect(first).toMatchObject({ timestamp: MOMENT, parameters: { "10": "b", "9": "a", "": "" } });
    expect(second).toMatchObject({ resource: null, parameters: null });
    expect(second!.id).toBeGreaterThan(first!.id);
  });

  test.each([
    ["declared", prepareStatement],
    ["shared", prepareBatchedStatement],
  ] as const)("a %s statement stores the same, again and again", async (_, declare) => {
    const place = (name: string) => sql.placeholder(name);
    const build: Parameters<typeof prepareStatement>[0] = (queries) => {
      const { id, labels, started_at, preprocessed, ...rest } = job("");
      return queries.insert(jobs).values({
        ...rest,
        id: place("id"),
        labels: place("labels"),
        started_at: place("started_at"),
        preprocessed: place("preprocessed"),
      });
    };
    const insert = declare<Record<string, unknown>, unknown[]>(build, () => []);
    const full = { id: "a", labels: ["x"], started_at: MOMENT, preprocessed: false };
    const empty = { id: "b", labels: null, started_at: null, preprocessed: null };
    for (const values of [full, empty]) {
      await db.write((tx) => tx.exec(insert, values));
      expect(await find(values.id)).toMatchObject(values);
    }
  });
});
