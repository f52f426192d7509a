/** Starting and stopping, tested once for all background services. */
import { describe, expect, test } from "bun:test";
import { createService, createServiceGroup, createServiceStack } from "../../../src/lib/async/service.ts";
import { createLog } from "../../../src/lib/logging/log.ts";

const log = createLog("silent", "json");

/** A service that records its calls, and opens once `opened` resolves. */
function noted(notes: string[], name = "it", opened: Promise<void> = Promise.resolve()) {
  return createService(async () => {
    notes.push(`open ${name}`);
    await opened;
    notes.push(`ready ${name}`);
    return async () => void notes.push(`close ${name}`);
  });
}

describe("a service", () => {
  test("is ready when start resolves, and closed when stop resolves", async () => {
    const notes: string[] = [];
    const service = noted(notes);
    await service.start();
    expect(notes).toEqual(["open it", "ready it"]);
    await service.stop();
    expect(notes).toEqual(["open it", "ready it", "close it"]);
  });

  test("starts and stops once, however often start and stop are called", async () => {
    const notes: string[] = [];
    const service = noted(notes);
    await Promise.all([service.start(), service.start()]);
    await service.start();
    await Promise.all([service.stop(), service.stop()]);
    await service.stop();
    expect(notes).toEqual(["open it", "ready it", "close it"]);
  });

  test("can be stopped before its first start, and started again", async () => {
    const notes: string[] = [];
    const service = noted(notes);
    await service.stop();
    await service.start();
    const stopped = service.stop();
    await service.start();
    await stopped;
    await service.stop();
    expect(notes.join()).toBe("open it,ready it,close it,open it,ready it,close it");
  });

  test("that is stopped during its start gets an abort, and closes once it is open", async () => {
    let told = false;
    let closed = false;
    const service = createService(async (stopping) => {
      await new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve()));
      told = true;
      return () => {
        closed = true;
      };
    });
    const started = service.start();
    await service.stop();
    expect([told, closed]).toEqual([true, true]);
    await started;
  });

  test("whose start fails rejects with the reason, stops without an error, and can be started again", async () => {
    let tries = 0;
    const service = createService(async () => {
      if (++tries === 1) throw new Error("no");
      return () => {};
    });
    expect(service.start()).rejects.toThrow("no");
    await service.stop();
    await service.start();
    expect(tries).toBe(2);
  });
});

describe("parts", () => {
  test("stop in reverse order, one after another", async () => {
    const notes: string[] = [];
    const parts = createServiceStack(log);
    for (const name of ["a", "b"]) await parts.start(name, noted(notes, name));
    parts.add("c", () => void notes.push("close c"));
    await Promise.all([parts.stop(), parts.stop()]);
    expect(notes.slice(4)).toEqual(["close c", "close b", "close a"]);
  });

  test("stops all services even if some fail, and reports the failures together", async () => {
    const notes: string[] = [];
    const parts = createServiceStack(log);
    const fails = (what: string) => async () => {
      throw new Error(what);
    };
    await parts.start("a", noted(notes, "a"));
    parts.add("b", fails("the database is gone"));
    parts.add("c", () => {
      throw new Error("at once");
    });
    await parts.start("d", noted(notes, "d"));
    const failure = await parts.stop().catch((cause) => cause);
    expect(notes.slice(-2)).toEqual(["close d", "close a"]);
    expect(failure).toBeInstanceOf(AggregateError);
    expect(failure.errors.map(String)).toEqual(["Error: at once", "Error: the database is gone"]);
    expect(failure.message).toContain("b: the database is gone");
  });

  test("a group stops the services it has started if another cannot start", async () => {
    const notes: string[] = [];
    const fails = createService(async () => {
      throw new Error("no");
    });
    const group = createServiceGroup(log, [
      ["a", noted(notes, "a")],
      ["b", fails],
      ["c", noted(notes, "c")],
    ]);
    expect(group.start()).rejects.toThrow("no");
    await group.stop();
    expect(notes).toEqual(["open a", "ready a", "close a"]);
  });
});
