/** `svc doctor`: its findings, and the remedies it names. */

import { Database as SqliteFile } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type CliEnvironment, createCliEnvironment, start } from "../../program.ts";

// Each check starts a process, and a busy machine starts few per second.
setDefaultTimeout(60_000);

interface Finding {
  check: string;
  state: "ok" | "warn" | "fail";
  says: string;
  advice?: string;
}

async function examine(place: CliEnvironment, env: Record<string, string> = {}, ...more: string[]) {
  const run = await place.svc(["doctor", "--json", "--port", "0", ...more], { env });
  const { ok, findings } = JSON.parse(run.out) as { ok: boolean; findings: Finding[] };
  expect(run.code).toBe(ok ? 0 : 1);
  expect(ok).toBe(findings.every(({ state }) => state !== "fail"));
  for (const { state, advice } of findings) expect(advice === undefined).toBe(state === "ok");
  return (check: string) => findings.find((finding) => finding.check === check)!;
}

/** A data directory that a server has used. */
async function used(): Promise<CliEnvironment> {
  const place = createCliEnvironment();
  const made = await place.svc(["user", "create", "--email", "a@example.org", "--password", "correct-horse"]);
  expect([made.code, made.err]).toEqual([0, expect.any(String)]);
  return place;
}

test("a new machine passes, and the checks create nothing", async () => {
  using place = createCliEnvironment();
  rmSync(place.data_dir, { recursive: true });
  const found = await examine(place);
  expect(found("data directory")).toMatchObject({
    state: "ok",
    says: expect.stringContaining("does not exist yet"),
  });
  expect(found("bun").state).toBe("ok");
  expect(found("bash").state).toBe("ok");
  expect(found("open files")).toBeDefined();
  expect(() => statSync(place.data_dir)).toThrow();
  const text = await place.svc(["doctor", "--port", "0"]);
  expect([text.code, text.err]).toEqual([0, ""]);
  expect(text.out).toMatch(/^ok {4}disk {12}\S+ \wB are free$/m);
});

test("a directory in use passes, with the server up and down", async () => {
  using place = await used();
  const down = await examine(place);
  for (const check of [
    "data directory",
    "files",
    "instance key",
    "clock",
    "database",
    "migrations",
    "server",
  ]) {
    expect([check, down(check)?.state]).toEqual([check, "ok"]);
  }
  expect(down("database").says).toContain("is whole");
  using going = start(place, ["serve", "--port", "0", "--json"]);
  const { url } = JSON.parse(await going.says("}\n"));
  const up = await examine(place, {}, "--port", new URL(url).port);
  expect(up("server")).toMatchObject({
    state: "ok",
    says: expect.stringContaining(`process ${going.child.pid} is up`),
  });
  expect(up("database").state).toBe("ok");
  expect(up("port")).toMatchObject({
    state: "ok",
    says: expect.stringContaining("by the server that is up"),
  });
  expect(up("files").state).toBe("ok");
});

describe("it reports", () => {
  test("files that others can read", async () => {
    using place = await used();
    chmodSync(place.data_dir, 0o755);
    chmodSync(join(place.data_dir, "svc.db"), 0o644);
    const loose = await examine(place);
    expect(loose("data directory")).toMatchObject({ state: "warn", advice: `chmod 700 ${place.data_dir}` });
    expect(loose("files")).toMatchObject({
      state: "warn",
      advice: `chmod 600 ${join(place.data_dir, "svc.db")}`,
    });
    chmodSync(join(place.data_dir, "instance.key"), 0o640);
    expect((await examine(place))("files").state).toBe("fail");
  });

  test("a missing or damaged key", async () => {
    using place = await used();
    const key = join(place.data_dir, "instance.key");
    writeFileSync(key, "short\n");
    expect((await examine(place))("instance key")).toMatchObject({ state: "fail" });
    rmSync(key);
    expect((await examine(place))("instance key")).toMatchObject({ state: "warn" });
    expect(() => statSync(key)).toThrow();
    expect((await examine(place, { SVC_SECRET_KEY: "x" }))("instance key").state).toBe("ok");
  });

  test("a database that is damaged, newer or not migrated", async () => {
    using place = await used();
    const path = join(place.data_dir, "svc.db");
    const change = (text: string) => {
      const file = new SqliteFile(path);
      file.run(text);
      file.close();
    };
    change("INSERT INTO svc_migrations VALUES ('9999_breaking', 0)");
    expect((await examine(place))("migrations")).toMatchObject({
      state: "fail",
      says: expect.stringContaining("it has 9999_breaking"),
    });
    change("DELETE FROM svc_migrations WHERE name NOT LIKE '0000%'");
    expect((await examine(place))("migrations").state).toBe("warn");
    writeFileSync(path, "this is not a database, though it is long enough to look like one".repeat(100));
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
    expect((await examine(place))("database")).toMatchObject({
      state: "fail",
      says: expect.stringContaining("cannot be read"),
      advice: expect.stringContaining("svc restore"),
    });
  });

  test("an unreachable database, without its password", async () => {
    using place = createCliEnvironment();
    const database = "postgres://ann:hunter2-hunter2@127.0.0.1:1/svc";
    const run = await place.svc(["doctor", "--port", "0"], { env: { DATABASE_URL: database } });
    expect([run.code, run.out]).toEqual([
      1,
      expect.stringMatching(/^fail {2}database {8}cannot be reached/m),
    ]);
    expect(run.out + run.err).not.toContain("hunter2");
  });

  test("a port in use by another program", async () => {
    using place = createCliEnvironment();
    const other = createServer();
    const port = await new Promise<number>((resolve) =>
      other.listen(0, "127.0.0.1", () => resolve((other.address() as { port: number }).port)),
    );
    try {
      const found = await examine(place, {}, "--port", String(port));
      expect(found("port")).toMatchObject({
        state: "fail",
        says: expect.stringContaining("by another program"),
      });
    } finally {
      other.close();
    }
  });

  test.each([
    ["php", "composer", "x.php", "<?php\n// require:\n// some/thing\nfunction main() {}\n"],
    ["ruby", "bundle", "x.rb", "gemfile do\n  gem 'something'\nend\ndef main\nend\n"],
  ])("a package client that is missing beside %s, as runs say too", async (tool, client, name, content) => {
    using place = createCliEnvironment();
    const bin = join(place.folder, "bin");
    mkdirSync(bin);
    // A tool that describes its installation.
    const says = `#!/bin/sh\nprintf '%s\\n' ${bin}/${tool} 1.0 ${bin}\n`;
    writeFileSync(join(bin, tool), says, { mode: 0o755 });
    const advice = { composer: "install Composer", bundle: "install Bundler" }[client]!;
    const found = await examine(place, { PATH: bin });
    expect(found(tool)).toMatchObject({ state: "ok" });
    expect(found(client)).toMatchObject({ state: "warn", says: "is not installed" });
    await place.file(name, content);
    const ran = await place.svc(["run", `./${name}`], { env: { PATH: bin } });
    expect(ran.err).toContain(`${client} is not installed on this server: ${advice}`);
  });

  test("a Python without uv and pip, which installs no packages", async () => {
    using place = createCliEnvironment();
    const bin = join(place.folder, "bin");
    mkdirSync(bin);
    const python = (more: string) =>
      `#!/bin/sh\n[ "$1" = --version ] && echo Python 3.11.2 && exit\n${more}\n`;
    const write = (name: string, text: string) => writeFileSync(join(bin, name), text, { mode: 0o755 });
    write("python3", python("echo No module named pip >&2; exit 1"));
    const without = await examine(place, { PATH: bin });
    expect(without("python3").state).toBe("ok");
    expect(without("Python packages")).toEqual({
      check: "Python packages",
      state: "warn",
      says: "neither uv nor pip is installed",
      advice: "install uv, or pip (Debian: python3-pip), or leave packages in python3 alone",
    });
    write("python3", python("echo pip 23.0.1 from /usr/lib"));
    const withPip = await examine(place, { PATH: bin });
    expect(withPip("Python packages")).toMatchObject({ state: "ok", says: "pip 23.0.1 installs them" });
    write("uv", "");
    const withUv = await examine(place, { PATH: bin });
    expect(withUv("Python packages")).toMatchObject({ state: "ok", says: `${bin}/uv installs them` });
  });

  test("missing or outdated interpreters", async () => {
    using place = createCliEnvironment();
    const bin = join(place.folder, "bin");
    mkdirSync(bin);
    const without = await examine(place, { PATH: bin });
    expect([without("bash").says, without("python3").says]).toEqual(["is not installed", "is not installed"]);
    symlinkSync("/bin/sh", join(bin, "sh"));
    writeFileSync(join(bin, "python3"), "#!/bin/sh\necho Python 3.7.1\n", { mode: 0o755 });
    const old = await examine(place, { PATH: bin });
    expect(old("python3")).toMatchObject({
      state: "warn",
      says: expect.stringContaining("3.7.1 is too old"),
    });
  });
});
