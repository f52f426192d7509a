/** The loop of the roles that do what is due. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createRounds, type Role } from "../../src/worker/rounds.ts";
import { startTestServer, type TestServer, until } from "../harness.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** A role that is stopped at the end of the test. */
function rounds(role: Partial<Role> & Pick<Role, "look">) {
  const made = createRounds(server.server.app, { failure: "looking failed", longest_ms: Infinity, ...role });
  return { ...made, [Symbol.asyncDispose]: () => made.stop() };
}

const inMs = (ms: number) => new Date(server.server.app.clock().getTime() + ms);

test("looks when it starts, when it is woken and when the next is due, and else not", async () => {
  const looks: Date[] = [];
  let next: Date | undefined;
  await using role = rounds({
    async look(now) {
      looks.push(now);
      return next;
    },
  });
  role.start();
  await until(() => looks[0], "the first look");
  next = inMs(150);
  role.wake();
  await until(() => looks[1], "the second look");
  const due = next;
  next = undefined;
  await until(() => looks[2], "the third look");
  expect(looks[2]!.getTime()).toBeGreaterThanOrEqual(due.getTime());
  await Bun.sleep(100);
  expect(looks).toHaveLength(3);
});

test("of all who wake it while it looks, one look serves, which begins after that", async () => {
  const seen: number[] = [];
  let stored = 1;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await using role = rounds({
    async look() {
      seen.push(stored);
      if (seen.length === 1) await held;
      return undefined;
    },
  });
  role.start();
  await until(() => seen[0], "the first look");
  for (stored = 2; stored < 10; stored++) role.wake();
  expect(seen).toEqual([1]);
  release();
  await until(() => seen[1], "the second look");
  await Bun.sleep(50);
  expect(seen).toEqual([1, 10]);
});

test("what became due while it looked is due at once, also when the clock has gone on meanwhile", async () => {
  const moments: number[] = [];
  await using role = rounds({
    async look(now) {
      moments.push(now.getTime());
      if (moments.length > 1) return undefined;
      // Asked for with `now`, this one was not due yet; by the end of the look it is.
      const next = new Date(now.getTime() + 1);
      await Bun.sleep(20);
      return next;
    },
  });
  role.start();
  await until(() => moments[1], "the look after it");
  expect(moments[1]! - moments[0]!).toBeLessThan(5_000);
});

test("a moment that is asked for is kept, unless an earlier one stands", async () => {
  const looks: number[] = [];
  await using role = rounds({
    async look(now) {
      looks.push(now.getTime());
      return inMs(looks.length === 1 ? 100_000 : 1_000_000);
    },
  });
  role.start();
  await until(() => looks[0], "the first look");
  role.wakeAt(inMs(50));
  role.wakeAt(inMs(50_000));
  await until(() => looks[1], "the look that was asked for");
  expect(looks[1]! - looks[0]!).toBeGreaterThanOrEqual(45);
});

test("a look that fails is made again", async () => {
  let looks = 0;
  await using role = rounds({
    async look() {
      if (++looks === 1) throw new Error("not now");
      return undefined;
    },
  });
  role.start();
  await until(() => (looks === 2 ? true : undefined), "the second look");
});

test("the longest sleep ends by itself", async () => {
  let looks = 0;
  await using role = rounds({
    longest_ms: 20,
    async look() {
      looks++;
      return undefined;
    },
  });
  role.start();
  await until(() => (looks >= 3 ? true : undefined), "the third look");
});

test("stopping waits for the look that runs, which is told, and none follows", async () => {
  let looks = 0;
  let over = false;
  const role = rounds({
    async look(_now, stopping) {
      looks++;
      await new Promise<void>((resolve) => {
        stopping.addEventListener("abort", () => setTimeout(resolve, 20));
      });
      over = true;
      return inMs(0);
    },
  });
  role.start();
  await until(() => (looks === 1 ? true : undefined), "the look");
  role.wake();
  await role.stop();
  expect(over).toBe(true);
  role.wake();
  await role.stop();
  await Bun.sleep(30);
  expect(looks).toBe(1);
});
