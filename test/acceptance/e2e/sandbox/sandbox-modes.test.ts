/** The sandbox setting, and its effect on machines that support less: on the compiled executable. */
import { afterEach, describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { createInstallation, type Installation, processesOf, setUp, until } from "../executable.ts";
import { clientOf } from "../scripts.ts";
import { startVariant, variants } from "../variants.ts";

const support = detectSandboxSupport();
const WITHOUT_LANDLOCK = [process.execPath, join(import.meta.dir, "without-landlock.ts")];
const places: Installation[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

const PROBE = `import * as fs from "node:fs";
  import { spawnSync } from "node:child_process";
  const got = (attempt: () => unknown) => { try { attempt(); return "got" } catch (cause) { return (cause as { code: string }).code } };
  export async function main(data: string, pid: number) {
    const socket = await fetch("http://localhost/api/version", { unix: data + "/svc.sock" } as never).then(() => "got", () => "refused");
    return {
      key: got(() => fs.readFileSync(data + "/instance.key")),
      socket,
      signal: got(() => process.kill(pid, 0)),
      limited: /Max open files +\\d+ +4096/.test(fs.readFileSync("/proc/self/limits", "utf8")),
      temporary: got(() => fs.writeFileSync("/tmp/svc-sandbox-modes", "")),
      processes: got(() => fs.readdirSync("/proc")),
      runtime: spawnSync(process.execPath, ["-e", "console.log(6 * 7)"], { encoding: "utf8" }).stdout,
    };
  }`;

async function started(env: Record<string, string>, under?: string[]) {
  const place = createInstallation({ has_own_executable: true });
  places.push(place);
  const server = await place.serve({ env, ...(under ? { under } : {}) });
  const scripts = clientOf(server, await setUp(server));
  await scripts.deploy("probe", PROBE);
  return {
    place,
    server,
    scripts,
    run: () => scripts.run<any>("probe", { data: place.data_dir, pid: server.pid }),
  };
}

const doctor = async (place: Installation, env: Record<string, string>) => {
  const { out } = await place.svc(["doctor", "--json"], { env });
  const { findings } = JSON.parse(out) as { findings: { check: string; state: string; says: string }[] };
  return findings.find(({ check }) => check === "sandbox");
};

describe.if(process.platform === "linux" && support.seccomp)("a kernel without Landlock", () => {
  test.each(variants().filter(({ name }) => name.endsWith("without Landlock")))(
    "leaves files to their rights, and what else there is holds: $name",
    async (variant) => {
      const { place, server, scripts } = await startVariant(variant);
      places.push(place);
      await scripts.deploy("probe", PROBE);
      const found = await scripts.run<any>("probe", { data: place.data_dir, pid: server.pid });
      // Scripts of a non-root server run as its user, those of root as others.
      const key = variant.isRoot ? "EACCES" : "got";
      expect(found).toMatchObject({ key, socket: "refused", signal: "EPERM", limited: true });
    },
    60_000,
  );

  test("runs no job if the sandbox is required but unavailable, with the reason", async () => {
    const { run, place } = await started({ SVC_SANDBOX: "required" }, WITHOUT_LANDLOCK);
    expect(await run()).toEqual({
      error: {
        name: "SandboxUnavailable",
        message:
          "no job runs on this server: SVC_SANDBOX=required, and Landlock is not offered by this kernel or container",
      },
    });
    expect(await doctor(place, { SVC_SANDBOX: "required" })).toMatchObject({
      state: support.landlock > 0 ? "ok" : "fail",
    });
  }, 60_000);
});

test.if(support.landlock > 0)(
  "jobs run with a required sandbox that is available",
  async () => {
    const { run, place } = await started({ SVC_SANDBOX: "required" });
    expect(await run()).toMatchObject({ key: "EACCES", socket: "refused", signal: "EPERM", limited: true });
    expect(await doctor(place, {})).toMatchObject({
      state: "ok",
      says: expect.stringContaining(`Landlock ${support.landlock}`),
    });
  },
  60_000,
);

test("without the sandbox a script can do what the server's user can", async () => {
  const { run, place } = await started({ SVC_SANDBOX: "off" });
  expect(await run()).toMatchObject({
    key: "got",
    socket: "got",
    signal: "got",
    limited: false,
    runtime: "42\n",
  });
  expect(await doctor(place, { SVC_SANDBOX: "off" })).toMatchObject({
    state: "warn",
    says: expect.stringContaining("off"),
  });
}, 60_000);

const bwrap = Bun.which("bwrap");
const works =
  bwrap !== null && Bun.spawnSync([bwrap, "--ro-bind", "/", "/", "--unshare-pid", "true"]).success;
if (!works) test.skip("bwrap is not installed, or cannot create namespaces here", () => {});
const boxed = { SVC_SANDBOX: "bwrap", PATH: `${dirname(bwrap ?? "/bin/bwrap")}:/usr/bin:/bin` };
test.if(works)(
  "bubblewrap gives a script its own processes and temporary files",
  async () => {
    const { run } = await started(boxed);
    const key = support.landlock > 0 ? expect.stringMatching(/EACCES|ENOENT/) : "ENOENT";
    expect(await run()).toMatchObject({
      key,
      socket: "refused",
      signal: "ESRCH",
      limited: true,
      temporary: "got",
      processes: "got",
      runtime: "42\n",
    });
  },
  60_000,
);

test.if(works)(
  "an idle process in bubblewrap is kept, unless a job has left something running",
  async () => {
    const { scripts } = await started(boxed);
    await scripts.deploy("counts", "let n = 0; export const main = () => ++n");
    await scripts.deploy(
      "leaves",
      "export const main = (mark: string) => { setTimeout(() => Bun.spawn(['sleep', mark]), 100) }",
    );
    expect(await scripts.run<number>("counts")).toBe(1);
    let mark = "";
    // It may end before it is seen.
    for (let isSeen = false; !isSeen; ) {
      mark = `31.${Math.floor(Math.random() * 1e9)}`;
      await scripts.run("leaves", { mark });
      const seen = until(
        async () => (await processesOf(mark)).length > 0 || undefined,
        "what is left",
        3_000,
      );
      isSeen = await seen.catch(() => false);
    }
    // When this one is ended, all waiting processes have been examined.
    await until(async () => (await processesOf(mark)).length === 0 || undefined, "its end", 10_000);
    expect(await scripts.run<number>("counts")).toBe(2);
  },
  60_000,
);

test("a missing bubblewrap is reported", async () => {
  const { run } = await started({ SVC_SANDBOX: "bwrap", PATH: "/nowhere" });
  expect((await run()).error).toMatchObject({
    name: "SandboxUnavailable",
    message: expect.stringContaining("bubblewrap (bwrap) is not installed"),
  });
}, 60_000);

test("a folder that contains the data directory cannot be given to scripts", async () => {
  const place = createInstallation({ has_own_executable: true });
  places.push(place);
  for (const folder of ["/", place.folder, place.data_dir, join(place.data_dir, "runner")]) {
    const { code, err } = await place.svc(["serve", "--port", "0"], { env: { SVC_SANDBOX_WRITE: folder } });
    expect([folder, code, err]).toEqual([
      folder,
      expect.any(Number),
      expect.stringContaining("would reach the data directory"),
    ]);
    expect(code).not.toBe(0);
  }
}, 60_000);
