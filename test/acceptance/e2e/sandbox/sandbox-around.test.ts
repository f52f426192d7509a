/**
 * Attacks on the sandbox and its limits: on the compiled executable, as a non-root user if tests run as root.
 * Every attack is bounded, so that one that succeeds fails a test and harms nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { createInstallation, processesOf, type Serving, setUp, until } from "../executable.ts";
import { clientOf, type ScriptClient } from "../scripts.ts";

const support = detectSandboxSupport();
const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0 && Bun.which("setpriv") !== null;
const become = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
const place = createInstallation({ has_own_executable: true });
const env = {
  SVC_JOB_MEMORY_MB: "300",
  SVC_JOB_DISK_MB: "100",
  SVC_SANDBOX_PORTS: "443",
  SVC_MAX_RESULT_MB: "1",
};
let server: Serving;
let scripts: ScriptClient;

interface Failed {
  error?: { name: string; message: string };
}

/** System calls by number, for scripts; a negative result is an error code. */
const CALL = `import { dlopen, ptr } from "bun:ffi";
  const library = require("node:fs").existsSync("/lib/ld-musl-x86_64.so.1") ? "libc.musl-x86_64.so.1" : "libc.so.6";
  const libc = dlopen(library, { syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64", "u64"], returns: "i64" } }).symbols;
  const call = (number: number, ...words: (number | bigint)[]) => {
    const [a, b, c, d, e, f] = [...words, 0, 0, 0, 0, 0, 0].map(BigInt);
    return Number(libc.syscall(BigInt(number), a, b, c, d, e, f));
  };
  const text = (value: string) => ptr(Buffer.from(value + "\\0"));`;

/** Writes invalid messages to the channel. */
const TELL = `import { writeSync } from "node:fs";
  const tell = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; ) {
      try { at += writeSync(3, bytes, at) } catch (cause) { if ((cause as { code: string }).code !== "EAGAIN") return }
    }
  };`;

if (support.landlock === 0) {
  test.skip(`walls around files: ${support.missing}`, () => {});
} else {
  beforeAll(async () => {
    if (isRoot) for (const path of [place.folder, join(place.folder, "svc")]) chownSync(path, NOBODY, NOBODY);
    await serve();
    scripts = clientOf(server, await setUp(server));
    await scripts.deploy("fine", "export const main = () => process.pid");
  }, 60_000);
  afterAll(() => place.remove());
  afterEach(async () => {
    expect(await scripts.run<number>("fine")).toBeGreaterThan(0);
  });

  async function serve(): Promise<void> {
    server = await place.serve({ env, under: become });
  }

  async function runOnce<T>(content: string, more: object = {}, args: object = {}): Promise<T> {
    const name = `once_${scripts.count()}`;
    await scripts.deploy(name, content, more);
    return scripts.run<T>(name, args, "?timeout=60");
  }

  describe("messages on the channel that are not the child's own answers", () => {
    const residentMb = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1_024;

    test("are stored for a limited time", async () => {
      let most = 0;
      const watching = setInterval(() => {
        most = Math.max(most, residentMb());
      }, 20);
      const code = `${TELL} export const main = () => { for (let n = 0; n < 150; n++) tell(Buffer.alloc(4 << 20, 97)) }`;
      const { error } = await runOnce<Failed>(code);
      clearInterval(watching);
      expect(error?.message).toMatch(/sent the server more than \d+ MB at once/);
      expect(most).toBeLessThan(450);
    }, 60_000);

    test("are not stored without limit while the script is loading either", async () => {
      const code = `${TELL} for (let n = 0; n < 150; n++) tell(Buffer.alloc(4 << 20, 97)); for (;;) await Bun.sleep(50); export const main = () => 1`;
      expect((await runOnce<Failed>(code)).error?.message).toMatch(/more than \d+ MB at once/);
    }, 60_000);

    const answer = (fields: string) =>
      `${TELL} export async function main() { tell(Buffer.from(JSON.stringify({ t: "done", fence: 0, leftovers: false, ${fields} }) + "\\n")); await Bun.sleep(5_000) }`;

    test.each([
      ["a result beyond the limit", `result: JSON.stringify("a".repeat(3_000_000))`],
      ["an error of megabytes", `error: { name: "E", message: "a".repeat(5_000_000) }`],
      ["more memory than there is a number for", `result: "1", mem_peak_kb: 2 ** 53 - 1`],
      ["arguments that are none", `result: "1", preprocessed_args: "[1]"`],
      ["a result that is not JSON", `result: "{"`],
    ])("are not accepted as a response: %s", async (_, fields) => {
      const { error } = await runOnce<Failed>(answer(fields));
      expect(error?.message).toMatch(
        /^the script's process answered (something that is not a result|more than a result may be)$/,
      );
    });

    test("do not change the arguments of a job without a preprocessor", async () => {
      const name = `once_${scripts.count()}`;
      await scripts.deploy(
        name,
        answer(`result: "1", preprocessed_args: '{"a":2}'`).replace("main()", "main(a: number)"),
      );
      const id = (await scripts.ask("POST", `/jobs/run/p/u/ann/${name}`, { a: 1 })).text.replaceAll('"', "");
      const job = await until(async () => {
        const { text } = await scripts.ask("GET", `/jobs_u/get/${id}`);
        return text.includes('"CompletedJob"') ? (JSON.parse(text) as { args: object }) : undefined;
      }, "the job's end");
      expect(job.args).toEqual({ a: 1 });
    });

    test("that are invalid end the job, and no other", async () => {
      const code = `${TELL} export async function main() { tell(Buffer.from("nonsense\\n")); await Bun.sleep(5_000) }`;
      expect((await runOnce<Failed>(code)).error?.message).toContain(
        "sent the server something that is not a message",
      );
    });
  });

  test("an endless line of output costs the server no more than other output", async () => {
    const code = `head -c 400M /dev/zero | tr '\\0' a; echo; echo done`;
    expect(await runOnce<string>(code, { language: "bash" })).toBe("done");
  }, 60_000);

  test.if(process.arch === "x64")(
    "descriptors that reveal file names, or have a shared number, are closed",
    async () => {
      const code = `${CALL}
      export const main = (data: string) => ({
        watch: call(254, call(294, 0), text(data), 0xfff),
        fanotify: call(300, 0x200, 0),
        memory: call(29, 0, 4096, 0o1600), semaphores: call(64, 0, 1, 0o1600), messages: call(68, 0, 0o1600),
        netlink: call(41, 16, 3, 16),
      })`;
      const found = await runOnce<Record<string, number>>(code, {}, { data: place.data_dir });
      expect(found).toEqual({
        watch: -1,
        fanotify: -1,
        memory: -1,
        semaphores: -1,
        messages: -1,
        netlink: -1,
      });
    },
  );

  test.if(support.landlock >= 4 && process.arch === "x64")(
    "ports that are not named are closed to TCP by other names as well",
    async () => {
      let connected = 0;
      const told = () => {
        connected++;
      };
      const outside = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: told, data: () => {} } });
      try {
        const code = `${CALL}
          export const main = (port: number) => {
            const address = new Uint8Array(16);
            address.set([2, 0, port >> 8, port & 255, 127, 0, 0, 1]);
            const bytes = Buffer.from("hello");
            const header = new BigUint64Array([BigInt(ptr(address)), 16n, BigInt(ptr(new BigUint64Array([BigInt(ptr(bytes)), 5n]))), 1n, 0n, 0n, 0n, 0n]);
            const connect = (socket: number) => socket < 0 ? socket : call(42, socket, ptr(address), 16);
            return [
              connect(call(41, 2, 1, 0)), connect(call(41, 2, 1, 262)),
              call(44, call(41, 2, 1, 0), ptr(bytes), 5, 0x20000000, ptr(address), 16),
              call(46, call(41, 2, 1, 0), ptr(header), 0x20000000),
              call(307, call(41, 2, 1, 0), ptr(header), 1, 0x20000000),
            ];
          }`;
        expect(await runOnce<number[]>(code, {}, { port: outside.port })).toEqual([-1, -1, -1, -1, -1]);
        expect(connected).toBe(0);
      } finally {
        outside.stop(true);
      }
    },
  );

  describe("storage of a job that its folder does not show", () => {
    test("files in memory", async () => {
      const code = `${CALL}
        export async function main() {
          const piece = new Uint8Array(10 << 20).fill(7);
          for (let n = 0; n < 60; n++) {
            const file = call(${process.arch === "x64" ? 319 : 279}, text("x"), 0);
            if (call(${process.arch === "x64" ? 1 : 64}, file, ptr(piece), piece.length) < 0) return "refused";
            await Bun.sleep(20);
          }
          await Bun.sleep(5_000);
        }`;
      expect((await runOnce<Failed>(code)).error).toMatchObject({ name: "OutOfMemory", limit_mb: 300 });
    }, 60_000);

    const WRITE = `const piece = new Uint8Array(20 << 20);
      const write = async (file: (n: number) => number) => {
        for (let n = 0; n < 15; n++) { fs.writeSync(file(n), piece); await Bun.sleep(50) }
        await Bun.sleep(8_000);
      };`;

    test("files that it has removed and keeps open", async () => {
      const code = `import * as fs from "node:fs"; ${WRITE}
        export const main = () => write((n) => { const file = fs.openSync("f" + n, "w"); fs.unlinkSync("f" + n); return file })`;
      expect((await runOnce<Failed>(code)).error).toMatchObject({ name: "DiskQuotaExceeded" });
    }, 60_000);

    test("files in a folder that it has closed", async () => {
      const code = `import * as fs from "node:fs"; ${WRITE}
        export const main = () => {
          fs.mkdirSync("in");
          const files = Array.from({ length: 15 }, (_, n) => fs.openSync("in/f" + n, "w"));
          fs.chmodSync("in", 0);
          return write((n) => files[n]!);
        }`;
      // Root can read every folder.
      expect((await runOnce<Failed>(code)).error).toMatchObject({ name: "DiskQuotaExceeded" });
    }, 60_000);

    test("files deeper than a path can be long", async () => {
      const code = `name=$(printf 'd%.0s' {1..250}); for i in {1..30}; do mkdir $name; cd -P ./$name; done
        for i in {1..15}; do head -c 20M /dev/zero > f$i; sleep 0.05; done; sleep 8; echo kept`;
      expect((await runOnce<Failed>(code, { language: "bash" })).error).toMatchObject({
        name: "DiskQuotaExceeded",
      });
    }, 60_000);
  });

  describe("a leftover in a reusable process ends with the process", () => {
    test.each([
      ["a timer that starts a program", `setTimeout(() => Bun.spawn(["sleep", "MARK"]), 200)`],
      ["a thread that works", `new Worker(URL.createObjectURL(new Blob(["for (;;);"])))`],
      [
        "a timer that stores",
        `setTimeout(() => { for (let n = 0; n < 9; n++) require("fs").writeFileSync("f" + n, new Uint8Array(20 << 20)) }, 200)`,
      ],
    ])(
      "%s",
      async (_, code) => {
        const mark = `32.${Math.floor(Math.random() * 1e9)}`;
        const pid = await runOnce<number>(
          `export const main = () => { ${code.replace("MARK", mark)}; return process.pid }`,
        );
        const gone = async () => ((await isGone(pid)) ? true : undefined);
        expect(await until(gone, "the process to end", 15_000)).toBe(true);
        expect(await processesOf(mark)).toEqual([]);
      },
      60_000,
    );
  });

  describe("folders with invalid, inaccessible or too long names", () => {
    const children = join(place.data_dir, "runner/children");
    const HIDE = `odd=$(printf '\\xff\\xfe'); name=$(printf 'd%.0s' {1..250}); mkdir "$odd"; cd -P "./$odd"
      for i in {1..30}; do mkdir $name; cd -P ./$name; done; touch file; chmod 0 .; cd -P ..; chmod 0 .
      cd "$HOME"; chmod 0 "$odd"; echo "$HOME"`;
    const folderOf = (home: string) => home.split("/").at(-2)!;

    test("are deleted with the job", async () => {
      const folder = folderOf(await runOnce<string>(HIDE, { language: "bash" }));
      const gone = async () => ((await readdir(children)).includes(folder) ? undefined : true);
      expect(await until(gone, "its folder to go")).toBe(true);
    }, 60_000);

    test("of a killed server do not prevent the next start", async () => {
      const name = `once_${scripts.count()}`;
      await scripts.deploy(name, `${HIDE} > done; sleep 60`, { language: "bash" });
      const { text } = await scripts.ask("POST", `/jobs/run/p/u/ann/${name}`, {});
      expect(text.length).toBeGreaterThan(10);
      const folder = await until(async () => {
        for (const one of await readdir(children)) {
          if (existsSync(join(children, one, "job/done"))) return one;
        }
        return undefined;
      }, "the job to be under way");
      server.process.kill("SIGKILL");
      await server.process.exited;
      await serve();
      expect(await readdir(children)).not.toContain(folder);
      scripts = clientOf(
        server,
        await server.operator("/users/tokens/impersonate", { impersonate_email: "ann@example.org" }),
      );
    }, 60_000);
  });
}

async function isGone(pid: number): Promise<boolean> {
  return (await processesOf(`${pid} `)).every((line) => !line.trim().startsWith(`${pid} `));
}
