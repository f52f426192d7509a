/** The loop of all periodic tasks. */
import { afterEach, expect, setSystemTime, test } from "bun:test";
import { createLog } from "../../../src/lib/logging/log.ts";
import { MAX_TIMER_MS } from "../../../src/platform/loops/alarm.ts";
import { createPeriodicTask, type TaskOptions } from "../../../src/platform/loops/periodic-task.ts";
import { until } from "../../support/harness.ts";

const app = { clock: () => new Date(), log: createLog("silent", "json") };
afterEach(() => void setSystemTime());

/** A task that is stopped at the end of the test. */
function periodic(task: Partial<TaskOptions> & Pick<TaskOptions, "run">, more: object = {}) {
  const made = createPeriodicTask({ ...app, ...more }, { failure_message: "it failed", ...task });
  return { ...made, [Symbol.asyncDispose]: () => made.stop() };
}

const inMs = (ms: number) => new Date(Date.now() + ms);
/** Resolves once all due timers have fired, which happens in the order of their times. */
const settled = () => Bun.sleep(0).then(() => Bun.sleep(1));

test("a task runs at its start, when woken and when due, and at no other time", async () => {
  const runs: Date[] = [];
  let next: Date | undefined;
  await using task = periodic({
    async run(now) {
      runs.push(now);
      return next;
    },
  });
  await task.start();
  await until(() => runs[0], "the first run");
  next = inMs(50);
  const due = next;
  task.wake();
  await until(() => runs[1], "the second run");
  next = undefined;
  await until(() => runs[2], "the third run");
  expect(runs[2]!.getTime()).toBeGreaterThanOrEqual(due.getTime());
  expect(task.isIdle()).toBe(true);
});

test("all wake-ups during a pass are served by one further pass", async () => {
  const seen: number[] = [];
  let stored = 1;
  const held = Promise.withResolvers<void>();
  await using task = periodic({
    async run() {
      seen.push(stored);
      if (seen.length === 1) await held.promise;
    },
  });
  await task.start();
  await until(() => seen[0], "the first run");
  for (stored = 2; stored < 10; stored++) task.wake();
  expect(seen).toEqual([1]);
  held.resolve();
  await until(() => (task.isIdle() ? true : undefined), "the end of its runs");
  expect(seen).toEqual([1, 10]);
});

test("work that becomes due during a pass is processed at once, even if the clock has moved on", async () => {
  const moments: number[] = [];
  await using task = periodic({
    async run(now) {
      moments.push(now.getTime());
      if (moments.length > 1) return undefined;
      // When `now` was read, this one was not due yet; at the end of the run it is.
      const next = new Date(now.getTime() + 1);
      await until(() => (Date.now() > next.getTime() ? true : undefined));
      return next;
    },
  });
  await task.start();
  await until(() => moments[1], "the run after it");
});

test("wakeAt keeps the earliest requested time", async () => {
  const runs: number[] = [];
  await using task = periodic({
    async run(now) {
      runs.push(now.getTime());
      return inMs(runs.length === 1 ? 100_000 : 1_000_000);
    },
  });
  await task.start();
  await until(() => runs[0], "the first run");
  await settled();
  const asked = inMs(50);
  task.wakeAt(asked);
  task.wakeAt(inMs(50_000));
  await until(() => runs[1], "the run that was asked for");
  expect(runs[1]!).toBeGreaterThanOrEqual(asked.getTime());
});

test("wakeAt during a pass schedules the next one", async () => {
  const runs: number[] = [];
  await using task = periodic({
    async run(now) {
      runs.push(now.getTime());
      if (runs.length === 1) task.wakeAt(inMs(10));
      return undefined;
    },
  });
  await task.start();
  await until(() => runs[1], "the run that was asked for");
});

test("a failed pass is retried", async () => {
  let runs = 0;
  await using task = periodic({
    async run() {
      if (++runs === 1) throw new Error("not now");
    },
  });
  await task.start();
  await until(() => (runs === 2 ? true : undefined), "the second run");
});

test("the end of the interval starts a pass", async () => {
  let runs = 0;
  await using task = periodic({ interval_ms: 5, run: async () => void runs++ });
  await task.start();
  await until(() => (runs >= 3 ? true : undefined), "the third run");
});

test("with runs_on_start, start resolves after the first pass and rejects if it fails", async () => {
  let runs = 0;
  await using task = periodic({
    runs_on_start: true,
    async run() {
      if (++runs === 1) throw new Error("no");
    },
  });
  expect(task.start()).rejects.toThrow("no");
  await settled();
  await task.start();
  expect(runs).toBe(2);
});

test("stop aborts the running pass, waits for it, then runs after_stop; no pass follows", async () => {
  const notes: string[] = [];
  const task = periodic({
    async run(_now, stopping) {
      notes.push("run");
      await new Promise<void>((resolve) => stopping.addEventListener("abort", () => setTimeout(resolve, 5)));
      notes.push("over");
      return inMs(0);
    },
    after_stop: async () => void notes.push("last"),
  });
  await task.start();
  await until(() => notes[0], "the run");
  task.wake();
  await Promise.all([task.stop(), task.stop()]);
  task.wake();
  task.wakeAt(inMs(0));
  await task.stop();
  await settled();
  expect(notes).toEqual(["run", "over", "last"]);
});

test("a task whose after_stop fails still stops", async () => {
  const task = periodic({
    run: async () => {},
    after_stop: () => Promise.reject(new Error("the database is gone")),
  });
  await task.start();
  await task.stop();
});

test("a clock that is set forward delays a task no longer than the longest timer", async () => {
  let runs = 0;
  await using task = periodic({ run: async () => (++runs === 1 ? inMs(3_600_000) : undefined) });
  await task.start();
  await until(() => (runs === 1 ? true : undefined), "the first run");
  await settled();
  setSystemTime(inMs(3_600_000));
  const began = performance.now();
  while (runs < 2 && performance.now() - began < MAX_TIMER_MS + 5_000) await Bun.sleep(10);
  expect(runs).toBe(2);
}, 60_000);

test("a pass runs soon after the clock is set back", async () => {
  let runs = 0;
  await using task = periodic({ run: async () => (++runs === 1 ? inMs(60_000) : undefined) });
  await task.start();
  await until(() => (runs === 1 ? true : undefined), "the first run");
  await settled();
  setSystemTime(inMs(-3_600_000));
  const began = performance.now();
  while (runs < 2 && performance.now() - began < MAX_TIMER_MS + 5_000) await Bun.sleep(10);
  expect(runs).toBe(2);
}, 60_000);

test("a leader task runs only on the leading server, where every wake-up arrives", async () => {
  let leads = false;
  const told: string[] = [];
  const woken = new Map<string, (reason: "woken" | "elected") => void>();
  const leader = {
    isLeader: () => leads,
    wake: (task: string) => void told.push(task),
    onWake: (task: string, run: ((reason: "woken" | "elected") => void) | undefined) =>
      void (run ? woken.set(task, run) : woken.delete(task)),
  };
  let runs = 0;
  await using task = periodic({ leader_task: "duty", run: async () => void runs++ }, { leader });
  await task.start();
  task.wake();
  await settled();
  expect([runs, told]).toEqual([0, ["duty"]]);
  leads = true;
  woken.get("duty")!("elected");
  await until(() => (runs === 1 ? true : undefined), "the run of the leader");
  task.wake();
  await until(() => (runs === 2 ? true : undefined), "the run that was asked for");
  expect(told).toEqual(["duty"]);
  await task.stop();
  expect(woken.size).toBe(0);
});

test("the first delay of a leader task begins again with an election", async () => {
  let elect = (_reason: "woken" | "elected"): void => {};
  const leader = {
    isLeader: () => true,
    wake() {},
    onWake(_task: string, run: typeof elect | undefined) {
      if (run) elect = run;
    },
  };
  const runs: number[] = [];
  const run = async () => void runs.push(performance.now());
  await using task = periodic({ leader_task: "duty", first_delay_ms: 200, run }, { leader });
  await task.start();
  const elected = performance.now();
  elect("elected");
  await until(() => (runs.length === 1 ? true : undefined), "the first run");
  expect(runs[0]! - elected).toBeGreaterThan(190);
});
