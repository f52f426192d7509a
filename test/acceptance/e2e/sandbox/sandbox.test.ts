/**
 * Attacks of scripts on the server that runs them, prevented by Landlock: on the compiled executable. All
 * attacks are bounded, so that one that succeeds harms nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { createInstallation, type Installation, type Serving, setUp } from "../executable.ts";
import { clientOf, type ScriptClient } from "../scripts.ts";

const support = detectSandboxSupport();
const place: Installation = createInstallation({ has_own_executable: true });
const given = join(place.folder, "given");
const readable = join(place.folder, "readable");
let server: Serving;
let scripts: ScriptClient;

/** Tries one thing after another and reports each outcome: an error code, or what it got. */
const ATTEMPTS = `
import { dlopen, ptr } from "bun:ffi";
import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import net from "node:net";

const libc = () => dlopen(process.platform === "linux" && fs.existsSync("/lib/ld-musl-x86_64.so.1") ? "libc.musl-x86_64.so.1" : "libc.so.6", {
  syscall: { args: ["i64", "u64", "u64", "u64", "u64", "u64", "u64"], returns: "i64" },
}).symbols;
const call = (number: number, ...words: (number | bigint)[]) => {
  const [a, b, c, d, e, f] = [...words, 0, 0, 0, 0, 0, 0].map(BigInt);
  const answer = libc().syscall(BigInt(number), a, b, c, d, e, f);
  if (answer < 0n) throw Object.assign(new Error("refused"), { code: "refused" });
  return answer;
};
const connect = (path: string) => new Promise((resolve, reject) => {
  const socket = net.connect({ path }, () => resolve("connected"));
  socket.on("error", reject);
});
const link = (from: string) => { fs.symlinkSync(from, "link"); try { return fs.readFileSync("link") } finally { fs.unlinkSync("link") } };
const iov = (address: number) => { const word = new BigUint64Array([BigInt(address), 8n]); return BigInt(ptr(word)) };

export async function main(data: string, pid: number, other: string, source: string, numbers: Record<string, number>) {
  const tries: Record<string, () => unknown> = {
    "read the database": () => fs.readFileSync(data + "/svc.db"),
    "read the key": () => fs.readFileSync(data + "/instance.key"),
    "read the key from another thread": () => readFile(data + "/instance.key"),
    "read the key by a link": () => link(data + "/instance.key"),
    "read the key by a detour": () => fs.readFileSync("../../../../instance.key"),
    "give the key another name": () => fs.linkSync(data + "/instance.key", "key"),
    "take the key away": () => fs.renameSync(data + "/instance.key", "key"),
    "remove the key": () => fs.unlinkSync(data + "/instance.key"),
    "cut off the database": () => fs.truncateSync(data + "/svc.db", 0),
    "cut off the database by its name": () => call(numbers.truncate, ptr(Buffer.from(data + "/svc.db\\0")), 0),
    "write beside the database": () => fs.writeFileSync(data + "/new", "x"),
    "list the data directory": () => fs.readdirSync(data),
    "list the other children": () => fs.readdirSync("../.."),
    "read another job's file": () => fs.readFileSync(other),
    "write another job's file": () => fs.writeFileSync(other, "x"),
    "read another script": () => fs.readFileSync(source),
    "change its own source": () => fs.writeFileSync(import.meta.path, "x"),
    "remove its own source": () => fs.unlinkSync(import.meta.path),
    "change the programs of children": () => fs.writeFileSync(process.argv[1], "x"),
    "change the executable": () => fs.openSync(process.execPath, "r+"),
    "write to the packages": () => fs.mkdirSync(data + "/runner/dependencies/x"),
    "write to /tmp": () => fs.writeFileSync("/tmp/svc-sandbox-test", "x"),
    "read who may log in here": () => fs.readFileSync("/etc/shadow"),
    "read a home": () => fs.readdirSync("/root"),
    "list processes": () => fs.readdirSync("/proc"),
    "read the server's environment": () => fs.readFileSync("/proc/" + pid + "/environ"),
    "read the server's command line": () => fs.readFileSync("/proc/" + pid + "/cmdline"),
    "read the server's memory": () => fs.openSync("/proc/" + pid + "/mem", "r"),
    "list the server's files": () => fs.readdirSync("/proc/" + pid + "/fd"),
    "follow the server's folder": () => fs.readlinkSync("/proc/" + pid + "/cwd"),
    "read its parent's status": () => fs.readFileSync("/proc/" + process.ppid + "/status"),
    "end the server": () => process.kill(pid, "SIGTERM"),
    "ask whether the server lives": () => process.kill(pid, 0),
    "signal everything": () => process.kill(-1, 0),
    "open the server's socket": () => connect(data + "/svc.sock"),
    "ask as the operator": () => fetch("http://localhost/api/users/list", { unix: data + "/svc.sock" } as never),
    "open an abstract socket": () => connect("\\0svc"),
    "trace the server": () => call(numbers.ptrace, 16, pid),
    "copy the server's memory": () => call(numbers.process_vm_readv, pid, iov(0), 1, iov(4096), 1, 0),
    "set the server's limits": () => call(numbers.prlimit64, pid, 7, 0, ptr(new BigUint64Array(2))),
    "have the server run last": () => call(numbers.sched_setscheduler, pid, 5, ptr(new Int32Array(1))),
    "keep the server to one core": () => call(numbers.sched_setaffinity, pid, 8, ptr(new BigUint64Array([1n]))),
    "have the server give way": () => call(numbers.setpriority, 0, pid, 19),
    "have all of its user's give way": () => call(numbers.setpriority, 2, 0, 19),
    "have the server wait for the disk": () => call(numbers.ioprio_set, 1, pid, 0x6000),
    "have the kernel signal the server": () => call(numbers.fcntl, 0, 8, pid),
    "choose what the kernel signals with": () => call(numbers.fcntl, 0, 10, 9),
    "take the server's descriptor": () => call(numbers.pidfd_open, pid, 0),
    "make a namespace": () => call(numbers.unshare, 0x10000000),
    "ask by a ring": () => call(numbers.io_uring_setup, 1, ptr(new Uint8Array(256))),
    "open by a handle": () => call(numbers.open_by_handle_at, 0, 0, 0),
    "watch the kernel": () => call(numbers.perf_event_open, 0, 0, 0, 0, 0),
  };
  const found: Record<string, string> = {};
  for (const [name, attempt] of Object.entries(tries)) {
    try {
      found[name] = "got " + String(await attempt()).slice(0, 60);
    } catch (cause) {
      found[name] = (cause as { code?: string }).code ?? String(cause);
    }
  }
  return found;
}`;

/** Errors of Landlock, of the seccomp filter and of file permissions. */
const DENIED = ["EACCES", "EPERM", "EXDEV", "ETXTBSY", "refused"];

async function startServer(): Promise<void> {
  for (const folder of [given, readable]) mkdirSync(folder);
  writeFileSync(join(readable, "fact"), "known");
  server = await place.serve({ env: { SVC_SANDBOX_WRITE: given, SVC_SANDBOX_READ: readable } });
  scripts = clientOf(server, await setUp(server));
}

if (support.landlock === 0) {
  test.skip(`walls around files: ${support.missing}`, () => {});
} else {
  beforeAll(startServer);
  afterAll(() => place.remove());

  describe("a script cannot", () => {
    let found: Record<string, string>;
    beforeAll(async () => {
      await scripts.deploy("other", "export const main = () => process.cwd()");
      const folder = await scripts.run<string>("other");
      // Written as by a job of that server.
      writeFileSync(join(folder, "mine"), "secret");
      const versions = join(place.data_dir, "runner/versions/acme");
      const source = join(versions, readdirSync(versions)[0]!, "main.ts");
      expect(existsSync(source)).toBe(true);
      const { SYSCALLS } = await import("../../../../src/engines/runner/sandbox/isolation/syscalls.ts");
      const numbers = SYSCALLS[process.arch as "x64" | "arm64"];
      await scripts.deploy("attempts", ATTEMPTS);
      const data = place.data_dir;
      const before = statSync(join(data, "svc.db")).size;
      found = await scripts.run("attempts", {
        data,
        pid: server.pid,
        other: join(folder, "mine"),
        source,
        numbers,
      });
      expect(statSync(join(data, "svc.db")).size).toBeGreaterThanOrEqual(before);
      expect(readFileSync(join(folder, "mine"), "utf8")).toBe("secret");
    }, 60_000);
    const names = [...ATTEMPTS.matchAll(/^ {4}"([^"]+)": \(\) =>/gm)].map(([, name]) => name!);
    test.each(names)("%s", (name) => {
      expect([name, DENIED.includes(found[name]!) ? "denied" : found[name]]).toEqual([name, "denied"]);
    });
  });

  test("the resources that scripts need are available, and no others", async () => {
    await scripts.deploy(
      "needs",
      `import * as fs from "node:fs";
      import { spawnSync } from "node:child_process";
      const fails = (attempt: () => unknown) => { try { attempt(); return "no" } catch (cause) { return (cause as { code: string }).code } };
      export const main = (given: string, readable: string) => {
        fs.writeFileSync("own", "1"); fs.mkdirSync("a"); fs.renameSync("own", "a/own"); fs.appendFileSync(given + "/file", "x");
        return {
          own: fs.readFileSync("a/own", "utf8"), home: process.env.HOME === process.cwd(), temporary: process.env.TMPDIR === process.cwd(),
          shell: spawnSync("bash", ["-c", "echo out > /dev/null; cat a/own; head -c 2 /dev/urandom | wc -c"], { encoding: "utf8" }).stdout,
          fact: fs.readFileSync(readable + "/fact", "utf8"), change: fails(() => fs.writeFileSync(readable + "/fact", "")),
          names: fs.readFileSync("/etc/hosts", "utf8").length > 0, memory: process.memoryUsage().rss > 0, status: fs.existsSync("/proc/self/status"),
          core: fs.readFileSync("/proc/self/limits", "utf8").match(/Max core file size +(\\d+)/)?.[1],
          privileges: fs.readFileSync("/proc/self/status", "utf8").match(/NoNewPrivs:\\t(\\d)/)?.[1],
          filtered: fs.readFileSync("/proc/self/status", "utf8").match(/Seccomp:\\t(\\d)/)?.[1],
          server: Object.keys(process.env).filter((name) => name.startsWith("SVC_")),
        };
      };`,
    );
    expect(await scripts.run<object>("needs", { given, readable })).toEqual({
      own: "1",
      home: true,
      temporary: true,
      shell: "12\n",
      fact: "known",
      change: "EACCES",
      names: true,
      memory: true,
      status: true,
      core: "0",
      privileges: "1",
      filtered: "2",
      server: [],
    });
    expect(readFileSync(join(given, "file"), "utf8")).toBe("x");
  });

  describe("a result file of a shell script is read with the script's rights, not the server's", () => {
    test.each([
      ["a link to the key", `ln -s "$1/instance.key" result.out`],
      ["a link to the key, as JSON", `ln -s "$1/instance.key" result.json`],
      ["a link to the database", `ln -s "$1/svc.db" result.out`],
      ["a pipe without an end", "mkfifo result.out"],
      ["a folder", "mkdir result.json"],
    ])("%s", async (_, code) => {
      const name = `shell_${scripts.count()}`;
      await scripts.deploy(name, `${code}\necho done`, { language: "bash" });
      expect(await scripts.run<string>(name, { "1": place.data_dir })).toBe("done");
    });
  });

  test.if(Bun.which("python3", { PATH: "/usr/bin" }) !== null)("Python is in the same sandbox", async () => {
    const code = `import os
def attempt(f):
    try:
        return "got " + str(f())
    except OSError as error:
        return type(error).__name__
def main(data: str, pid: int):
    return [attempt(lambda: open(data + "/instance.key").read()), attempt(lambda: os.listdir("/proc")), attempt(lambda: os.kill(pid, 0)), open("/proc/self/status").read()[:5]]`;
    await scripts.deploy("python", code, { language: "python3" });
    const denied = "PermissionError";
    expect(await scripts.run<string[]>("python", { data: place.data_dir, pid: server.pid })).toEqual([
      denied,
      denied,
      denied,
      "Name:",
    ]);
  });

  test("paths of scripts and files cannot leave their folders", async () => {
    for (const path of [
      "../../svc.db",
      "u/ann/../../x",
      "u/ann/..",
      "/etc/passwd",
      "u/ann/a\0b",
      "u/ann/%2e%2e/x",
    ]) {
      const answer = await scripts.ask("POST", "/scripts/create", {
        path,
        language: "bun",
        content: "export const main = () => 1",
      });
      expect([path, answer.status]).toEqual([path, 400]);
    }
    const settings = { large_file_storage: { type: "FilesystemStorage" } };
    await server.operator("/w/acme/workspaces/edit_large_file_storage_config", settings);
    for (const key of ["../../instance.key", "a/../../../svc.db", "/etc/passwd", "a/\0", "..", "."]) {
      const name = encodeURIComponent(key);
      const up = await scripts.ask("POST", `/job_helpers/upload_s3_file?file_key=${name}`, "x");
      const down = await scripts.ask("GET", `/job_helpers/download_s3_file?file_key=${name}`);
      // A key may begin with a slash.
      expect([key, up.status, down.text]).toEqual([
        key,
        expect.any(Number),
        key === "/etc/passwd" && up.status < 300 ? "x" : expect.not.stringContaining("root:"),
      ]);
      if (key.includes("..")) expect([key, up.status]).toEqual([key, 400]);
    }
    expect(readFileSync(join(place.data_dir, "instance.key")).length).toBeGreaterThan(10);
  });
}
