/**
 * A server that runs as root: its scripts have user ids of their own, to which the system's limits and
 * permissions apply. On the compiled executable. Endless attacks are bounded here, so that a missing limit
 * harms nothing.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Installation, until } from "../executable.ts";
import { isRoot, type Started, startVariant, variants } from "../variants.ts";

const WHO = `import * as fs from "node:fs";
  import { spawnSync } from "node:child_process";
  const got = (attempt: () => unknown) => { try { attempt(); return "got" } catch (cause) { return (cause as { code: string }).code } };
  export const main = (data: string, other = "") => {
    const status = fs.readFileSync("/proc/self/status", "utf8");
    const field = (name: string) => status.match(new RegExp(name + ":\\\\s*(.*)"))?.[1];
    return {
      uid: process.getuid!(), gid: process.getgid!(), groups: field("Groups")!.trim().split(" ").map(Number),
      capabilities: [field("CapEff"), field("CapPrm"), field("CapAmb")],
      shell: Number(spawnSync("id", ["-u"], { encoding: "utf8" }).stdout),
      names: [process.env.USER, process.env.LOGNAME],
      home: process.cwd(),
      reads: ["instance.key", "svc.db", "svc.lock", "svc.sock", "runner/versions"].map((name) => got(() => fs.openSync(data + "/" + name, "r"))),
      lists: [data, data + "/runner", data + "/runner/children", data + "/runner/dependencies"].map((path) => got(() => fs.readdirSync(path))),
      writes: [data + "/x", data + "/runner/dependencies/x", process.argv[1]!, import.meta.path].map((path) => got(() => fs.writeFileSync(path, ""))),
      other: other === "" ? "" : got(() => fs.readFileSync(other + "/mine")),
      become: got(() => process.setuid!(0)),
    };
  };`;

const started: Started[] = [];
async function start(name: string, env: Record<string, string> = {}): Promise<Started> {
  const variant = variants().find((each) => each.name === name)!;
  const made = await startVariant(variant, env);
  started.push(made);
  return made;
}
const remove = () => {
  for (const { place } of started.splice(0)) place.remove();
};

/** Processes of these user ids. */
function processesOf(first: number, last: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    const uid = /^\d+$/.test(name) ? statSync(`/proc/${name}`, { throwIfNoEntry: false })?.uid : undefined;
    return uid !== undefined && first <= uid && uid <= last ? [Number(name)] : [];
  });
}

/** The name of a process's program; empty if it has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8");
  } catch {
    return "";
  }
}

const RANGE = { first: 300_000, last: 300_063 };
const range = { SVC_JOB_UIDS: `${RANGE.first}-${RANGE.last}` };
const EVERY_WALL = isRoot ? variants().filter((each) => each.isRoot) : [];
if (EVERY_WALL.length === 0) test.skip("separate user ids are tested when tests run as root", () => {});

describe.each(EVERY_WALL)("a server of $name", ({ name }) => {
  let here: Started;
  beforeAll(async () => {
    here = await start(name);
    await here.scripts.deploy("who", WHO);
    await here.scripts.deploy("again", `${WHO} // another version`);
  }, 60_000);
  afterAll(remove);

  test("runs each process as a separate user without access to others' files", async () => {
    const { place, scripts } = here;
    const data = place.data_dir;
    await scripts.deploy(
      "writes",
      `export const main = () => { require("fs").writeFileSync("mine", "x"); return process.cwd() }`,
    );
    const other = await scripts.run<string>("writes");
    const first = await scripts.run<any>("who", { data, other });
    const second = await scripts.run<any>("again", { data });
    const none = "0000000000000000";
    for (const found of [first, second]) {
      expect(found).toMatchObject({
        gid: found.uid,
        shell: found.uid,
        names: ["svc", "svc"],
        become: "EPERM",
      });
      expect(found.capabilities).toEqual([none, none, none]);
      expect(found.uid).toBeGreaterThan(1_900_000_000);
      const refused = /EACCES|ENOENT|EROFS|EPERM/;
      for (const answer of found.reads) expect(answer).toMatch(refused);
      // In bubblewrap these folders are the script's own, and contain only the path to its files.
      if (!name.includes("bubblewrap"))
        for (const answer of found.lists.slice(0, 3)) expect(answer).toMatch(refused);
      for (const answer of found.writes) expect(answer).toMatch(refused);
    }
    expect(first.other).toMatch(/EACCES|ENOENT/);
    expect(first.uid).not.toBe(second.uid);
    expect(statSync(first.home).uid).toBe(first.uid);
    expect((statSync(data).mode & 0o7777).toString(8)).toBe("710");
  }, 60_000);

  test("runs jobs of a flow that share a folder as the same user, in every language", async () => {
    const step = (id: string, language: string, content: string) => ({
      id,
      value: { type: "rawscript", language, content, input_transforms: {} },
    });
    const modules = [
      step(
        "a",
        "bun",
        `export const main = () => { require("fs").mkdirSync("shared/in"); return process.getuid!() }`,
      ),
      step("b", "bash", `echo more >> shared/in/note; rm -rf shared/in; mkdir shared/in; id -u`),
      step(
        "c",
        "bun",
        `export const main = () => [process.getuid!(), require("fs").statSync("shared/in").uid]`,
      ),
    ];
    const preview = async (value: object) => {
      const { text } = await here.scripts.ask("POST", "/jobs/run_wait_result/preview_flow", { value });
      return JSON.parse(text);
    };
    const [one, other] = [
      await preview({ same_worker: true, modules }),
      await preview({ same_worker: true, modules }),
    ];
    expect([one[0], other[0]]).toEqual([one[1], other[1]]);
    expect(one[0]).not.toBe(other[0]);
  }, 60_000);
});

describe.if(EVERY_WALL.length > 0)("a server running as root", () => {
  const [name] = EVERY_WALL.map((each) => each.name);
  afterEach(remove);

  test("kills fork bombs, and stays responsive meanwhile", async () => {
    const { scripts, server } = await start(name!, range);
    await scripts.deploy("fine", "export const main = () => 42");
    // Thirteen generations at most.
    const bomb = `f() { if [ "$1" -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & wait; else sleep 20; fi; }; f 12`;
    await scripts.deploy("bomb", bomb, { language: "bash" });
    let most = 0;
    let answered = 0;
    let ended = false;
    const watching = (async () => {
      while (!ended) {
        most = Math.max(most, processesOf(RANGE.first, RANGE.last).length);
        if ((await fetch(`${server.url}/api/version`)).ok) answered++;
        await Bun.sleep(5);
      }
    })();
    const results = await Promise.all([
      scripts.run<any>("bomb"),
      scripts.run<any>("bomb"),
      scripts.run<any>("bomb"),
    ]);
    ended = true;
    await watching;
    for (const { error } of results) expect(error.name).toBe("TooManyProcesses");
    // For each, twice what a job may have, and its threads.
    expect(most).toBeLessThan(3 * 1_024 + 64);
    expect(answered).toBeGreaterThan(0);
    expect(await scripts.run<number>("fine")).toBe(42);
    // Processes that wait for jobs remain.
    const isOfBomb = (pid: number) => /^(bash|sleep)$/m.test(commandOf(pid));
    const left = () => processesOf(RANGE.first, RANGE.last).filter(isOfBomb);
    expect(await until(() => (left().length === 0 ? true : undefined), "all to end")).toBe(true);
  }, 60_000);

  test("is not affected by their process limits: a script is limited by its own user", async () => {
    const { scripts } = await start(name!, { ...range, SVC_JOB_PROCESSES: "30" });
    const code = `for i in $(seq 900); do sleep 20 & done 2> refused; echo started > result.out`;
    await scripts.deploy("many", code, { language: "bash" });
    expect((await scripts.run<any>("many")).error.name).toBe("TooManyProcesses");
    const threads = `import threading, time
def main():
    started = 0
    try:
        for n in range(3000):
            threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    return started`;
    if (Bun.which("python3", { PATH: "/usr/bin" }) === null) return;
    await scripts.deploy("threads", threads, { language: "python3", isolation: "fresh" });
    const count = await scripts.run<number>("threads");
    expect([count > 100, count < 30 * 2 + 512]).toEqual([true, true]);
  }, 60_000);

  test("fails a job for which no user id is left, and continues", async () => {
    const env = { SVC_JOB_UIDS: "300000-300001", SVC_BLANK_CHILDREN: "0", SVC_CHILD_IDLE_S: "1" };
    const { scripts } = await start(name!, env);
    await scripts.deploy(
      "waits",
      "export const main = (ms: number) => Bun.sleep(ms).then(() => process.getuid!())",
      {
        isolation: "fresh",
      },
    );
    const both = await Promise.all([
      scripts.run<any>("waits", { ms: 1_500 }),
      scripts.run<any>("waits", { ms: 1_500 }),
    ]);
    const failed = both.filter((each) => each.error);
    expect(failed).toHaveLength(1);
    expect(failed[0].error.message).toContain(
      "all user ids of scripts (300000-300001, SVC_JOB_UIDS) are taken",
    );
    const isFree = async () => ((await scripts.run<any>("waits", { ms: 1 })) === 300_001 ? true : undefined);
    expect(await until(isFree, "the id to be free")).toBe(true);
  }, 60_000);

  test("reports at startup how it handles running as root, and so does the doctor", async () => {
    const says = async (place: Installation, env: Record<string, string>, about = "sandbox") => {
      const { out } = await place.svc(["doctor", "--json"], { env });
      const { findings } = JSON.parse(out) as { findings: { check: string; state: string; says: string }[] };
      return findings.find(({ check }) => check === about);
    };
    const logged = async ({ server }: Started) => {
      server.process.kill("SIGTERM");
      await server.process.exited;
      return new Response(server.process.stderr as ReadableStream).text();
    };
    const own = await start(name!, range);
    expect(await says(own.place, range)).toMatchObject({ says: expect.stringContaining("own user ids") });
    for (const about of ["data directory", "files"])
      expect(await says(own.place, range, about)).toMatchObject({ state: "ok" });
    const line = "as root: each script process runs under a user id of its own (300000-300063)";
    own.server.process.kill("SIGTERM");
    await own.server.process.exited;
    const plain = Bun.spawn([join(own.place.folder, "svc"), "serve", "--port", "0"], {
      env: { ...own.place.environment, ...range },
      stdout: "pipe",
      stderr: "ignore",
    });
    let said = "";
    for await (const bytes of plain.stdout) {
      said += new TextDecoder().decode(bytes);
      if (said.includes(line)) break;
    }
    plain.kill();
    expect(said).toContain(line);
    const off = await start(name!, { SVC_JOB_UIDS: "off", SVC_LOG_LEVEL: "warn" });
    await off.scripts.deploy("id", "export const main = () => process.getuid!()");
    expect(await off.scripts.run<number>("id")).toBe(0);
    expect((statSync(off.place.data_dir).mode & 0o777).toString(8)).toBe("700");
    expect(await says(off.place, { SVC_JOB_UIDS: "off" })).toMatchObject({
      state: "warn",
      says: expect.stringContaining("scripts run as root too (SVC_JOB_UIDS=off)"),
    });
    expect(await logged(off)).toContain("as root, and scripts run as root too (SVC_JOB_UIDS=off)");
    for (const ids of ["5", "0-9", "9-5", "a-b", "1-4294967295"]) {
      const { code, err } = await off.place.svc(["serve", "--port", "0"], { env: { SVC_JOB_UIDS: ids } });
      expect([ids, code === 0, err]).toEqual([
        ids,
        false,
        expect.stringContaining("must be a range of user ids"),
      ]);
    }
  }, 60_000);

  test("runs scripts also if other users cannot access its executable, with the sandbox", async () => {
    const here = await start("root, with Landlock", range);
    chmodSync(here.place.folder, 0o700);
    await here.again();
    await here.scripts.deploy("who", WHO);
    const found = await here.scripts.run<any>("who", { data: here.place.data_dir });
    expect(found).toMatchObject({ uid: expect.any(Number), become: "EPERM" });
    // CAP_DAC_OVERRIDE, without which it could not open its own program.
    expect(found.capabilities[0]).toBe("0000000000000002");
    expect(found.reads).toEqual(Array(5).fill("EACCES"));
    expect(found.lists).toEqual(["EACCES", "EACCES", "EACCES", "got"]);
  }, 60_000);
});
