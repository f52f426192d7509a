/** Restrictions with each Landlock version that a kernel may have; a newer kernel can act as an older one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeRuntimeFiles } from "../../../../src/engines/runner/files/runtime-files.ts";
import { createSandbox } from "../../../../src/engines/runner/sandbox/sandbox.ts";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";
import type { SandboxSettings } from "../../../../src/engines/runner/types.ts";
import { canMount, useNoexecFolder } from "./noexec-folder.ts";

const here = detectSandboxSupport();
const place = mkdtempSync(join(tmpdir(), "svc-versions-"));
const data_dir = join(place, "data");
const runner = join(data_dir, "runner");
const child = join(runner, "children/one");
const [job, code] = [join(child, "job"), join(child, "code")];
for (const path of [join(runner, "dependencies"), join(job, "from"), join(job, "to"), code])
  mkdirSync(path, { recursive: true });
const runtime = writeRuntimeFiles(runner);
const secret = join(data_dir, "secret");
writeFileSync(secret, "whole");
const open = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
const closed = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
/** Where no launch program can be executed, the runtime carries out the plan. */
const LAUNCHES: [by: string, folder: string][] = [["a launch program", runner]];
const noexec = join(place, "noexec");
if (canMount()) {
  LAUNCHES.push(["the runtime", noexec]);
  useNoexecFolder(noexec);
}

let stranger: Bun.Subprocess;
beforeAll(() => {
  stranger = Bun.spawn(["sleep", "300"]);
});
afterAll(async () => {
  stranger.kill();
  await Promise.all([open.stop(), closed.stop()]);
  rmSync(place, { recursive: true, force: true });
});

const PROBE = `import * as fs from "node:fs";
  import { connect } from "node:net";
  const [secret, server, stranger, open, closed] = process.argv.slice(2);
  const got = (attempt) => { try { attempt(); return "got" } catch (cause) { return cause.code } };
  const reach = (port) => new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => { socket.destroy(); resolve("got") });
    socket.on("error", (cause) => resolve(cause.code));
  });
  fs.writeFileSync("from/note", "");
  console.log(JSON.stringify({
    reads: got(() => fs.readFileSync(secret)),
    cuts: got(() => fs.truncateSync(secret)),
    writes: got(() => fs.writeFileSync(secret + "2", "")),
    own: got(() => fs.writeFileSync("own", "")),
    renames: got(() => fs.renameSync("from/note", "to/note")),
    server: got(() => process.kill(Number(server), 0)),
    stranger: got(() => process.kill(Number(stranger), 0)),
    open: await reach(open),
    closed: await reach(closed),
  }));
  process.exit();`;
writeFileSync(join(code, "probe.ts"), PROBE);

async function probe(
  landlock: number,
  ports: number[] | undefined,
  user_ids: SandboxSettings["user_ids"] = "off",
  folder = runner,
) {
  const sandbox = createSandbox(
    {
      mode: "auto",
      read: [],
      write: [],
      ports,
      max_file_bytes: 0,
      max_children: 1,
      max_processes: 0,
      user_ids,
      data_dir,
    },
    runtime.launcher,
    folder,
    runtime.directory,
    { ...here, landlock },
  );
  const given = [secret, process.pid, stranger.pid, open.port, closed.port].map(String);
  const program = [process.execPath, "--no-install", join(code, "probe.ts"), ...given];
  const folders = { job, code, access: {} };
  const user = sandbox.users?.acquire(folders);
  const child = Bun.spawn(sandbox.commandFor(folders, program, user), {
    cwd: job,
    env: { PATH: "/usr/bin:/bin", HOME: job, BUN_BE_BUN: "1" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if (out === "") throw new Error(err);
  return { found: JSON.parse(out), holds: sandbox.summary };
}

const FIRST = 400_000;
const versions = Array.from({ length: here.landlock }, (_, index) => index + 1);

describe.if(here.landlock > 0 && here.seccomp)("with Landlock", () => {
  test.each(versions.flatMap((version) => LAUNCHES.map((launch) => [version, ...launch] as const)))(
    "%d, others' files are inaccessible and the server cannot be signalled (launched by %s)",
    async (landlock, _, folder) => {
      const { found, holds } = await probe(landlock, undefined, "off", folder);
      expect(found).toEqual({
        reads: "EACCES",
        cuts: "EACCES",
        writes: "EACCES",
        own: "got",
        // Before version 2, Landlock cannot check moves between folders.
        renames: landlock < 2 ? "EXDEV" : "got",
        server: "EPERM",
        stranger: landlock < 6 ? "got" : "EPERM",
        open: "got",
        closed: "got",
      });
      expect(holds).toContain(landlock < 6 ? "signals to the server" : "signals, ");
    },
  );

  test.if(process.geteuid?.() === 0).each(versions)(
    "%d, as a separate user it can signal nobody, and do with its own files what the version allows",
    async (landlock) => {
      for (const path of [place, data_dir, runner, join(runner, "children")]) chmodSync(path, 0o711);
      for (const name of readdirSync(job, { recursive: true }))
        chownSync(join(job, String(name)), FIRST + 1, FIRST + 1);
      const { found, holds } = await probe(landlock, undefined, { first: FIRST, last: FIRST + 1 });
      expect(found).toMatchObject({
        reads: "EACCES",
        cuts: "EACCES",
        writes: "EACCES",
        own: "got",
        renames: landlock < 2 ? "EXDEV" : "got",
        server: "EPERM",
        stranger: "EPERM",
      });
      expect(holds).toContain("own user ids");
    },
  );

  test.each(versions)(
    "%d, unlisted ports are blocked if possible, else a warning is printed",
    async (landlock) => {
      const { found, holds } = await probe(landlock, [open.port!]);
      expect(found).toMatchObject({ reads: "EACCES", open: "got", closed: landlock < 4 ? "got" : "EACCES" });
      expect(holds).toContain(landlock < 4 ? "TCP ports are open: needs Landlock 4" : "TCP ports, ");
    },
  );
});
