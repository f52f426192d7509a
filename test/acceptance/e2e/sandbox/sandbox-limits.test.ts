/**
 * Jobs that exceed memory or process limits end, and the server stays up: on the compiled executable. Every job
 * is bounded, so that a missing limit harms nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, processesOf, type Serving, setUp, until } from "../executable.ts";
import { clientOf, type ScriptClient } from "../scripts.ts";

const place = createInstallation({ has_own_executable: true });
let server: Serving;
let scripts: ScriptClient;

interface Failed {
  error?: { name: string; message: string; [key: string]: unknown };
}

if (process.platform !== "linux") {
  test.skip("tests of resource limits run on Linux", () => {});
} else {
  beforeAll(async () => {
    const env = {
      SVC_JOB_MEMORY_MB: "300",
      SVC_JOB_PROCESSES: "40",
      SVC_JOB_CPU_S: "6",
      SVC_JOB_DISK_MB: "100",
      SVC_WORKERS: "2",
    };
    server = await place.serve({ env });
    scripts = clientOf(server, await setUp(server));
    await scripts.deploy("fine", "export const main = () => process.pid");
  }, 60_000);
  afterAll(() => place.remove());
  // The server is up, and both of its slots are free.
  afterEach(async () => {
    const pids = await Promise.all([scripts.run<number>("fine"), scripts.run<number>("fine")]);
    expect(pids.every((pid) => pid > 0)).toBe(true);
  });

  async function errorOf(content: string, more: object = {}, query = "?timeout=30") {
    const name = `limit_${scripts.count()}`;
    await scripts.deploy(name, content, more);
    return (await scripts.run<Failed>(name, {}, query)).error;
  }

  describe("memory", () => {
    const hoard = (most: number) => `export async function main() {
      const kept = [];
      for (let mb = 0; mb < ${most}; mb += 10) { kept.push(new Uint8Array(10 << 20).fill(7)); await Bun.sleep(5) }
      return kept.length;
    }`;

    test("beyond the limit ends the job with the number", async () => {
      const error = await errorOf(hoard(1_500));
      expect(error).toMatchObject({ name: "OutOfMemory", limit_mb: 300 });
      expect(Number(error?.memory_mb)).toBeGreaterThan(300);
      expect(error?.message).toBe(
        `the job used ${error?.memory_mb} MB of memory, more than the 300 MB allowed, and was stopped`,
      );
    }, 60_000);

    test("includes processes started by the job", async () => {
      const code = "head -c 700m /dev/zero | tail -c 700m > /dev/null; sleep 1; echo done";
      expect(await errorOf(`(${code})`, { language: "bash" })).toMatchObject({ name: "OutOfMemory" });
    }, 60_000);

    test("is limited by the script's own limit", async () => {
      const name = `limit_${scripts.count()}`;
      await scripts.deploy(name, hoard(450), { memory_mb: 800 });
      expect(await scripts.run<number>(name)).toBe(45);
      const small = await errorOf(hoard(450), { memory_mb: 128 });
      expect(small).toMatchObject({ name: "OutOfMemory", limit_mb: 128 });
    }, 60_000);

    test("left over from an earlier job does not count for the next one", async () => {
      const code = `const kept = [];
        export const main = () => { kept.push(new Uint8Array(200 << 20).fill(7)); return process.pid }`;
      await scripts.deploy("keeps", code);
      const first = await scripts.run<number>("keeps");
      await until(async () => ((await isGone(first)) ? true : undefined), "the full process to be ended");
      expect(await scripts.run<number>("keeps")).not.toBe(first);
    }, 60_000);
  });

  test("too many processes end the job and are all killed", async () => {
    const mark = `30.${Math.floor(Math.random() * 1e9)}`;
    const code = `import { spawn } from "node:child_process";
      export async function main() {
        for (let n = 0; n < 300; n++) { spawn("sleep", ["${mark}"], { detached: n % 2 === 0, stdio: "ignore" }); await Bun.sleep(5) }
        await Bun.sleep(3_000);
      }`;
    expect(await errorOf(code)).toMatchObject({ name: "TooManyProcesses" });
    expect(await processesOf(mark)).toEqual([]);
  }, 60_000);

  test("processes that keep starting processes are killed too", async () => {
    const mark = `31.${Math.floor(Math.random() * 1e9)}`;
    // Eight generations at most: 255 processes.
    const code = `f() { if [ "$1" -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & wait; else sleep ${mark}; fi; }
      f 7`;
    expect(await errorOf(code, { language: "bash" })).toMatchObject({ name: "TooManyProcesses" });
    expect(await processesOf(mark)).toEqual([]);
  }, 60_000);

  test("open files are limited per process, and do not count for the next job", async () => {
    const code = `import { openSync } from "node:fs";
      export const main = () => {
        let count = 0;
        try { for (; count < 20_000; count++) openSync("/dev/null", "r") } catch (cause) { return { code: (cause as { code: string }).code, count } }
        return { count };
      }`;
    await scripts.deploy("opens", code, { isolation: "fresh" });
    for (let n = 0; n < 2; n++) {
      const { code: why, count } = await scripts.run<{ code: string; count: number }>("opens");
      expect([why, count > 3_000 && count < 4_097]).toEqual(["EMFILE", true]);
    }
  }, 60_000);

  describe("the disk", () => {
    test("stores no file larger than the limit", async () => {
      const code = `import { openSync, writeSync } from "node:fs";
        export const main = () => {
          const file = openSync("big", "w"); const piece = new Uint8Array(10 << 20);
          for (let n = 1; n <= 20; n++) {
            try { if (writeSync(file, piece) < piece.length) return n } catch (cause) { return (cause as { code: string }).code }
          }
          return "all";
        }`;
      const name = `limit_${scripts.count()}`;
      await scripts.deploy(name, code, { isolation: "fresh" });
      expect(await scripts.run<string | number>(name)).toBe("EFBIG");
    }, 60_000);

    test("stores no more than the limit in a job's folder, which is deleted with the job", async () => {
      const code = `import { writeFileSync } from "node:fs";
        export async function main() {
          for (let n = 0; n < 30; n++) { writeFileSync("file" + n, new Uint8Array(20 << 20)); await Bun.sleep(20) }
          await Bun.sleep(9_000);
        }`;
      expect(await errorOf(code)).toMatchObject({ name: "DiskQuotaExceeded" });
      const children = join(place.data_dir, "runner/children");
      const left = readdirSync(children, { recursive: true }).filter((name) => String(name).includes("file"));
      expect(left).toEqual([]);
    }, 60_000);
  });

  test("counts a flow's shared folder for the running step", async () => {
    const content = `import { writeFileSync } from "node:fs";
      export async function main() {
        for (let n = 0; n < 30; n++) { writeFileSync("shared/file" + n, new Uint8Array(20 << 20)); await Bun.sleep(20) }
        await Bun.sleep(9_000);
      }`;
    const step = { id: "a", value: { type: "rawscript", language: "bun", content, input_transforms: {} } };
    const value = { same_worker: true, modules: [step] };
    const { text } = await scripts.ask("POST", "/jobs/run_wait_result/preview_flow", { value });
    expect(JSON.parse(text).error).toMatchObject({ name: "DiskQuotaExceeded" });
    const files = () => readdirSync(join(place.data_dir, "runner/shared"), { recursive: true });
    await until(() => (files().some((name) => String(name).includes("file")) ? undefined : true), "it to go");
  }, 60_000);

  test("processor time beyond the limit ends the job", async () => {
    const error = await errorOf("export const main = () => { for (;;); }");
    expect(error).toMatchObject({
      name: "CpuTimeExceeded",
      message: expect.stringContaining("more than the 6 s"),
    });
  }, 60_000);

  test("processor time of a shell script's processes counts, also of orphans", async () => {
    const work = (rounds: number) => `for ((i = 0; i < ${rounds}; i++)); do :; done`;
    // The parent of the short ones has ended; the warm process remains for the next job. Together they would need several
    // times the limit, also on a fast machine.
    const short = `for ((n = 0; n < 500; n++)); do
      (bash -c '${work(60_000)}; touch ended' &)
      until [ -e ended ]; do sleep 0.02; done
      rm ended
    done`;
    for (const content of [work(100_000_000), `bash -c '${work(100_000_000)}'`, short]) {
      expect(await errorOf(content, { language: "bash" })).toMatchObject({ name: "CpuTimeExceeded" });
    }
  }, 120_000);

  test("a folder without permissions is deleted with the job", async () => {
    const name = `limit_${scripts.count()}`;
    await scripts.deploy(name, "mkdir -p a/b; touch a/b/c; chmod 000 a/b a; pwd", { language: "bash" });
    const folder = await scripts.run<string>(name);
    await until(
      () => (readdirSync(join(folder, "../..")).includes(folder.split("/").at(-2)!) ? undefined : true),
      "its end",
    );
  }, 60_000);
}

async function isGone(pid: number): Promise<boolean> {
  return (await processesOf(`${pid} `)).every((line) => !line.trim().startsWith(`${pid} `));
}
