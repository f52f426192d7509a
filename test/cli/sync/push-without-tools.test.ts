/** A server without the programs that scripts need: the push, the runs and the report name what to install. */
import { expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createCliEnvironment } from "../program.ts";
import { writeFiles } from "./sync-files.ts";

const NO_CLIENT =
  "Python packages could not be resolved or installed: neither uv nor pip is installed on this server: install uv, or pip (Debian: python3-pip)";
const NO_PYTHON = "python3 is not installed on this server: install Python 3.8 or newer (Debian: python3)";

test("a push stores everything, and reports what to install for items that cannot run", async () => {
  using place = createCliEnvironment();
  const bin = join(place.folder, "bin");
  const bare = join(place.folder, "bare");
  mkdirSync(bin);
  const made = Bun.spawnSync(["python3", "-m", "venv", "--without-pip", bare]);
  expect([made.exitCode, made.stderr.toString()]).toEqual([0, ""]);
  await writeFiles(bin, { python3: `#!/bin/sh\nexec ${bare}/bin/python3 "$@"\n` });
  Bun.spawnSync(["chmod", "+x", join(bin, "python3")]);
  const svc = (...words: string[]) => place.svc(words, { env: { PATH: bin } });
  const ws = join(place.folder, "ws");
  await writeFiles(ws, {
    "f/a/folder.meta.yaml": "display_name: a\n",
    "f/a/wants.py": "import some_thing\ndef main(): return 1\n",
    "f/a/locked.py": "import some_thing\ndef main(): return 1\n",
    "f/a/locked.script.lock": "# py: 3.11\nsome-thing==1.0\n",
    "f/a/locked.script.yaml": "summary: ''\nlock: '!inline f/a/locked.script.lock'\n",
    "f/a/plain.py": "def main(): return 1\n",
    "f/a/shell.ps1": "Write-Output 1\n",
    "f/a/runs_deno.deno.ts": "export const main = () => Deno.version;\n",
  });
  await svc("user", "create", "--email", "ann@example.org", "--password", "correct-horse");
  await svc("workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org");
  const pushed = await svc("push", "ws", "--yes");
  expect(pushed.code).toBe(1);
  expect(pushed.err).toContain(`stored but cannot run: ${NO_CLIENT}\n  script f/a/wants\n`);
  expect(pushed.err).toContain("1 of the 6 changes made cannot run yet");
  await writeFiles(ws, {
    "f/a/more.ps1": "Write-Output 2\n",
    "f/a/secret.variable.yaml": "is_secret: true\ndescription: ''\n",
  });
  const reported = await svc("push", "ws", "--yes", "--report", "--secrets", "plain");
  for (const [path, why] of [
    ["script f/a/shell", "will not run: pwsh is not installed on this server: install PowerShell 7 (pwsh)"],
    ["script f/a/more", "will not run: pwsh is not installed on this server: install PowerShell 7 (pwsh)"],
    ["script f/a/runs_deno", "will not run: deno is not installed on this server: install Deno (npm: deno)"],
  ])
    expect(reported.out).toContain(`taken: ${path}\n  ${why}`);
  expect(reported.out).toContain(
    "not taken: variable f/a/secret\n  a secret that is to be set: its file has no value\n",
  );
  expect(reported.out).not.toContain("script f/a/plain");
  const run = async (name: string) => {
    const { code, out, err } = await svc("run", `f/a/${name}`);
    return code === 0 ? out : err;
  };
  expect(await run("wants")).toContain(`its dependencies could not be resolved: ${NO_CLIENT}`);
  expect(await run("locked")).toContain(`error: ${NO_CLIENT}`);
  expect(await run("plain")).toBe("1\n");
  expect(await run("shell")).toContain("pwsh is not installed on this server: install PowerShell 7 (pwsh)");
  expect(await run("runs_deno")).toContain("deno is not installed on this server: install Deno (npm: deno)");
  rmSync(join(bin, "python3"));
  await writeFiles(ws, { "f/a/plain.py": "def main(): return 2\n" });
  const without = await svc("push", "ws", "--yes");
  expect(without.err).toContain(`stored but cannot run: ${NO_PYTHON}\n`);
  expect(await run("plain")).toContain(NO_PYTHON);
}, 120_000);
