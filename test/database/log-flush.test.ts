import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogFlush } from "../../src/database/sqlite/log-flush.ts";

const folder = mkdtempSync(join(tmpdir(), "log-flush-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = join(folder, "log");
writeFileSync(file, "written");
const describeFailure = (cause: Error) => new Error("the disk refused", { cause });

describe("a flush of the log", () => {
  test("is done in place where the disk is fast", () => {
    const log = createLogFlush(file, describeFailure, Number.POSITIVE_INFINITY);
    expect(log.flush()).toBeUndefined();
    log.close();
  });

  test("is awaited on another thread where the disk is slow", async () => {
    const log = createLogFlush(file, describeFailure, 0);
    const flushing = log.flush();
    expect(flushing).toBeInstanceOf(Promise);
    await flushing;
    log.close();
  });

  // A device that cannot be flushed simulates a disk that rejects flushes.
  test("rejects with the mapped error of the disk, in place and on another thread", async () => {
    const inPlace = createLogFlush("/dev/null", describeFailure, Number.POSITIVE_INFINITY);
    expect(() => inPlace.flush()).toThrow("the disk refused");
    const onThread = createLogFlush("/dev/null", describeFailure, 0);
    const refused = await onThread.flush()?.catch((cause: Error) => cause);
    expect(refused).toMatchObject({ message: "the disk refused", cause: { code: "EINVAL" } });
    inPlace.close();
    onThread.close();
  });
});
