/** Concurrent writes of one statement that the database commits together. */
import { describe, expect, test } from "bun:test";
import { and, asc, eq, getTableColumns, sql } from "drizzle-orm";
import { prepareBatchedStatement, type Tx } from "../../src/database/database.ts";
import { auditLog } from "../../src/features/signals/audit/tables.ts";
import { BadRequest } from "../../src/lib/errors.ts";
import { insertEqualJobs } from "../../src/platform/queue/job-store.ts";
import { type Job, jobs } from "../../src/platform/queue/tables.ts";
import { db, find, gate, ids, job, MOMENT, onSqlite, setUpEmptyDatabase } from "./contract-setup.ts";

setUpEmptyDatabase();

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
  const insert = prepareBatchedStatement<{ id: string; args: string }, unknown>(
    (queries) => queries.insert(jobs).values({ ...job(""), id: place("id"), args: place("args") } as never),
    () => undefined,
  );
  const start = prepareBatchedStatement<{ id: string; worker: string }, { id: string }[]>(
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
    timestamp: MOMENT,
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

  test("an insert of many rows shares a commit with others, and fails its own write only", async () => {
    const rows = (...names: string[]) =>
      db.write((tx) =>
        insertEqualJobs(tx, { ...full, args: `{"of":"${names[0]}"}`, started_at: MOMENT }, names),
      );
    await Promise.all([rows("a", "b", "c"), store("d"), rows("e"), rows()]);
    expect(await ids()).toEqual(["a", "b", "c", "d", "e"]);
    const answers = await Promise.allSettled([rows("f", "g"), rows("h", "a"), store("i"), store("d")]);
    expect(answers.map(({ status }) => status === "fulfilled")).toEqual([true, false, true, false]);
    expect(await ids()).toEqual(["a", "b", "c", "d", "e", "f", "g", "i"]);
    expect(await find("g")).toEqual({ ...full, id: "g", args: '{"of":"f"}', started_at: MOMENT });
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
    "a text that PostgreSQL cannot store is rejected by name, and other writes of the group are stored",
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
    // Both update the same row at the same time.
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
    const find = prepareBatchedStatement<{ id: string }, { id: string }[]>(
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
