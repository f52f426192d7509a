/**
 * The sandbox in special cases: without root, with named ports, with settings of a script's author, for package
 * clients.
 */
import { afterEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import { createInstallation, type Installation, setUp, until } from "../executable.ts";
import { clientOf } from "../scripts.ts";

const support = detectSandboxSupport();
const places: Installation[] = [];
afterEach(() => {
  for (const place of places.splice(0)) place.remove();
});

function place(): Installation {
  const made = createInstallation({ has_own_executable: true });
  places.push(made);
  return made;
}

async function started(here: Installation, env: Record<string, string>, under: string[] = []) {
  const server = await here.serve({ env, under });
  const token = await setUp(server);
  return { server, token, scripts: clientOf(server, token) };
}

const NOBODY = 65_534;
const become = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];

test.if(support.landlock > 0 && process.geteuid?.() === 0 && Bun.which("setpriv") !== null)(
  "a user other than root needs no further privileges",
  async () => {
    const here = place();
    for (const path of [here.folder, join(here.folder, "svc")]) chownSync(path, NOBODY, NOBODY);
    const { server, scripts } = await started(here, { SVC_SANDBOX: "required" }, become);
    await scripts.deploy(
      "probe",
      `import * as fs from "node:fs";
      const got = (attempt: () => unknown) => { try { attempt(); return "got" } catch (cause) { return (cause as { code: string }).code } };
      export const main = (data: string, pid: number) => ({
        user: process.getuid!(),
        key: got(() => fs.readFileSync(data + "/instance.key")),
        environment: got(() => fs.readFileSync("/proc/" + pid + "/environ")),
        signal: got(() => process.kill(pid, 0)),
        own: got(() => fs.writeFileSync("own", "")),
        powers: /NoNewPrivs:\\s*1/.test(fs.readFileSync("/proc/self/status", "utf8")),
      });`,
    );
    expect(await scripts.run<object>("probe", { data: here.data_dir, pid: server.pid })).toEqual({
      user: NOBODY,
      key: "EACCES",
      environment: "EACCES",
      signal: "EPERM",
      own: "got",
      powers: true,
    });
  },
  60_000,
);

test.if(support.landlock >= 4)(
  "scripts in every language can connect to the listed ports only",
  async () => {
    const [open, closed] = [0, 0].map(() =>
      Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("told") }),
    );
    try {
      const { scripts } = await started(place(), { SVC_SANDBOX_PORTS: String(open!.port) });
      await scripts.deploy(
        "asks",
        `export const main = (url: string) => fetch(url).then((answer) => answer.text(), () => "refused")`,
      );
      await scripts.deploy(
        "asks_bash",
        `port="$1"\n(exec 3<>/dev/tcp/127.0.0.1/$port) && echo connected || echo refused`,
        {
          language: "bash",
        },
      );
      for (const [server, answer, connected] of [
        [open!, "told", "connected"],
        [closed!, "refused", "refused"],
      ] as const) {
        expect(await scripts.run<string>("asks", { url: String(server.url) })).toBe(answer);
        expect(await scripts.run<string>("asks_bash", { port: server.port })).toBe(connected);
      }
    } finally {
      await Promise.all([open!.stop(true), closed!.stop(true)]);
    }
  },
  60_000,
);

test("invalid ports are rejected at startup", async () => {
  for (const ports of ["0", "https", "443,70000"]) {
    const { code, err } = await place().svc(["serve", "--port", "0"], { env: { SVC_SANDBOX_PORTS: ports } });
    expect([code === 0, err]).toEqual([false, expect.stringContaining("must be port numbers")]);
  }
}, 60_000);

test("svc script push sets isolation and memory, and keeps both", async () => {
  const here = place();
  const { token, server, scripts } = await started(here, {});
  const file = join(here.folder, "takes.ts");
  const push = async (content: string, ...options: string[]) => {
    await Bun.write(file, content);
    const env = { SVC_URL: server.url, SVC_TOKEN: token };
    return here.svc(["script", "push", file, "u/ann/takes", "--workspace", "acme", ...options], { env });
  };
  const takes = `export const main = (mb: number) => [process.pid, new Uint8Array(mb * 2 ** 20).fill(1).length, Bun.sleepSync(400)][0]`;
  expect(await push(takes, "--isolation", "fresh", "--memory", "256")).toMatchObject({ code: 0 });
  const [one, two] = [await scripts.run("takes", { mb: 1 }), await scripts.run("takes", { mb: 1 })];
  expect([typeof one, one === two]).toEqual(["number", false]);
  const tooMuch = { error: { name: "OutOfMemory", message: expect.stringContaining("256") } };
  expect(await scripts.run<object>("takes", { mb: 400 })).toMatchObject(tooMuch);
  expect(await push(`${takes} // again`)).toMatchObject({ code: 0 });
  expect(await scripts.run<object>("takes", { mb: 400 })).toMatchObject(tooMuch);
  expect(await push(takes, "--isolation", "shared", "--memory", "1024")).toMatchObject({ code: 0 });
  const warm = await scripts.run("takes", { mb: 400 });
  expect([typeof warm, await scripts.run("takes", { mb: 1 })]).toEqual(["number", warm]);
  expect(await push(takes, "--memory", "much")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--memory"),
  });
}, 60_000);

/** One entry of a tar archive (POSIX ustar): a file, or a link when `to` is given. */
function entry(name: string, text: string, to?: string): Buffer {
  const head = Buffer.alloc(512);
  const size = to === undefined ? Buffer.byteLength(text) : 0;
  head.write(name, 0);
  head.write("0000644\0", 100);
  head.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  head.write("00000000000\0", 136);
  head.write(`        ${to === undefined ? "0" : "2"}${to ?? ""}`, 148);
  head.write("ustar\x0000", 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(size / 512) * 512);
  body.write(text);
  return Buffer.concat([head, body]);
}

test("a package's archive cannot write outside of its own folder, nor link there", async () => {
  const here = place();
  const up = "../".repeat(9);
  const archive = gzipSync(
    Buffer.concat([
      entry("package/package.json", JSON.stringify({ name: "sly", version: "1.0.0", main: "index.js" })),
      entry("package/index.js", "module.exports = require('node:path').dirname(__filename)"),
      entry(`package/${up}${here.folder.slice(1)}/planted`, "x"),
      entry(`${here.folder}/planted-too`, "x"),
      entry("package/out", "", here.folder),
      entry("package/out/planted-by-link", "x"),
      entry("package/key", "", join(here.data_dir, "instance.key")),
      Buffer.alloc(1024),
    ]),
  );
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  const registry = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      const { origin, pathname } = new URL(url);
      if (pathname.endsWith(".tgz")) return new Response(archive);
      const dist = { tarball: `${origin}/sly/-/sly-1.0.0.tgz`, integrity };
      const versions = { "1.0.0": { name: "sly", version: "1.0.0", dist } };
      return Response.json({ name: "sly", "dist-tags": { latest: "1.0.0" }, versions });
    },
  });
  try {
    const { server, scripts } = await started(here, {});
    await server.operator("/settings/global/npm_config_registry", { value: String(registry.url) });
    const content = `import folder from "sly"; import * as fs from "node:fs"; import { join } from "node:path";
      const got = (attempt: () => unknown) => { try { attempt(); return "got" } catch { return "nothing" } };
      export const main = () => [folder.includes("/dependencies/"), got(() => fs.readFileSync(join(folder, "key"))), got(() => fs.readdirSync(join(folder, "out", "data")))]`;
    await scripts.deploy("sly", content);
    const found = await until(async () => {
      const { text } = await scripts.ask("POST", "/jobs/run_wait_result/p/u/ann/sly", {});
      return text.includes("still being resolved") ? undefined : text;
    }, "its dependencies");
    expect(readdirSync(here.folder).filter((name) => name.startsWith("planted"))).toEqual([]);
    expect(existsSync(join(here.data_dir, "planted-by-link"))).toBe(false);
    // Without a sandbox, only the installer rejects the links.
    if (support.landlock > 0) expect(JSON.parse(found)).toEqual([true, "nothing", "nothing"]);
  } finally {
    await registry.stop(true);
  }
}, 60_000);
