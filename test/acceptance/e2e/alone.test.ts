import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, type Installation, processesOf, setUp, until } from "./executable.ts";

const places: Installation[] = [];
const place = () => {
  const made = createInstallation();
  places.push(made);
  return made;
};
afterAll(() => {
  for (const made of places) made.remove();
});

describe("the executable alone in a folder, with PATH=/usr/bin:/bin", () => {
  test("the demo runs and exits", async () => {
    const { svc } = place();
    const { code, out, err } = await svc(["demo", "--exit", "--port", "0"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("Hello, World!");
    expect(out).toContain("lift-off");
    expect(out).not.toContain("✗");
  }, 60_000);

  test("the demo leaves out languages without an interpreter on the machine", async () => {
    const { svc, folder } = place();
    const { code, out, err } = await svc(["demo", "--exit", "--port", "0"], { env: { PATH: folder } });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("A bash script\nleft out: bash is not installed\n");
    expect(out).toContain("A Python script\nleft out: python3 is not installed\n");
    expect(out).toContain("lift-off");
  }, 60_000);

  test("a file is run with no server and no workspace, and leaves nothing running", async () => {
    const { svc, folder, data_dir } = place();
    writeFileSync(
      join(folder, "add.ts"),
      "export function main(a: number, b = 1) { console.log('adding'); return { sum: a + b } }",
    );
    const good = await svc(["run", "./add.ts", "-d", '{"a":41}']);
    expect([good.code, JSON.parse(good.out), good.err]).toEqual([0, { sum: 42 }, "adding\n"]);
    const piped = await svc(["run", "./add.ts", "-d", "-"], { stdin: '{"a":1,"b":2}' });
    expect(JSON.parse(piped.out)).toEqual({ sum: 3 });
    writeFileSync(join(folder, "bad.ts"), "export function main() { throw new RangeError('too far') }");
    const bad = await svc(["run", "./bad.ts"]);
    expect([bad.code, bad.out]).toEqual([1, ""]);
    expect(bad.err).toContain("RangeError: too far");
    expect(await processesOf(data_dir)).toEqual([]);
  }, 60_000);

  test("files in the current folder are neither run nor used as settings", async () => {
    const { svc, folder } = place();
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    const mark = join(folder, "was-run");
    write("foreign.ts", `require("fs").writeFileSync(${JSON.stringify(mark)}, ""); export default null;`);
    const preload = `preload = [${JSON.stringify(join(folder, "foreign.ts"))}]`;
    for (const name of ["bunfig.toml", ".bunfig.toml"]) write(name, preload);
    for (const name of [".env", ".env.local", ".env.production"]) write(name, "SVC_PORT=none\nFOREIGN=1");
    write("tsconfig.json", '{"compilerOptions":{"paths":{"*":["./foreign.ts"]}}}');
    write("package.json", '{"name":"is-odd","exports":"./foreign.ts","workspaces":["**"]}');
    write(
      "job.ts",
      `import { existsSync } from "node:fs";
      import isOdd from "is-odd@3.0.1";
      export const main = () => [isOdd(3), existsSync("/"), process.env.FOREIGN ?? null];`,
    );
    // The data directory is the default one, below that folder.
    const env = { SVC_DATA_DIR: "" };
    const ran = await svc(["run", "./job.ts"], { env });
    expect([ran.code, JSON.parse(ran.out)]).toEqual([0, [true, true, null]]);
    const demo = await svc(["demo", "--exit", "--port", "0"], { env });
    expect([demo.code, demo.err]).toEqual([0, ""]);
    const settings: { name: string; source: string }[] = JSON.parse(
      (await svc(["config", "--all", "--json"], { env })).out,
    );
    expect(settings.find(({ name }) => name === "port")?.source).toBe("default");
    expect(existsSync(mark)).toBe(false);
  }, 60_000);

  test("dependencies are locked and installed by the executable itself", async () => {
    const { svc, folder } = place();
    writeFileSync(
      join(folder, "odd.ts"),
      'import isOdd from "is-odd@3.0.1"; export const main = (n: number) => isOdd(n)',
    );
    const { code, out, err } = await svc(["run", "./odd.ts", "-d", '{"n":3}']);
    expect([code, out.trim(), err]).toEqual([0, "true", expect.anything()]);
  }, 60_000);

  test("queries run and resources are checked without other programs", async () => {
    const { svc, folder } = place();
    writeFileSync(join(folder, "sum.sqlite.sql"), "-- $1 n (int)\nSELECT $1 + 1 AS n");
    const sum = await svc(["run", "./sum.sqlite.sql", "-d", '{"n":41}']);
    expect([sum.code, JSON.parse(sum.out), sum.err]).toEqual([0, [{ n: 42 }], ""]);
    const database = { host: "127.0.0.1", port: 1, dbname: "none", password: "open-sesame" };
    writeFileSync(join(folder, "one.pg.sql"), "SELECT 1 AS one");
    const refused = await svc(["run", "./one.pg.sql", "-d", JSON.stringify({ database })]);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringContaining("cannot connect to postgres@127.0.0.1:1"),
    ]);
    expect(refused.err).not.toContain("open-sesame");
    const resource = ["resource", "set", "u/ann/db", JSON.stringify({ host: 5 }), "--type", "postgresql"];
    const warned = await svc(resource);
    expect([warned.code, warned.err]).toEqual([
      0,
      expect.stringMatching(/^warning: .*\/host must be string/),
    ]);
  });

  test("health, metrics, the doctor, backup and restore work without other programs", async () => {
    const made = place();
    const server = await made.serve();
    const ask = async (path: string) => {
      const answer = await fetch(`http://localhost/api${path}`, { unix: join(made.data_dir, "svc.sock") });
      return [answer.status, await answer.text()] as const;
    };
    expect(await ask("/health")).toEqual([200, expect.stringContaining('"status":"ready"')]);
    expect(await ask("/metrics")).toEqual([200, expect.stringContaining("svc_database_commits_total")]);
    const doctor = await made.svc(["doctor", "--port", "0", "--json"]);
    expect([doctor.code, JSON.parse(doctor.out).ok]).toEqual([0, true]);
    expect((await made.svc(["backup", "all.backup", "--with-key"])).code).toBe(0);
    const restored = await made.svc(["restore", "all.backup", "--data-dir", "elsewhere", "--json"]);
    expect([restored.code, JSON.parse(restored.out).key]).toEqual([0, "restored"]);
    process.kill(server.pid, "SIGTERM");
    expect(await server.process.exited).toBe(0);
  }, 60_000);

  test("a second server on the same directory exits and names the owner", async () => {
    const made = place();
    const server = await made.serve();
    const { code, err } = await made.svc(["serve", "--port", "0"]);
    expect(code).toBe(1);
    expect(err).toContain(`process ${server.pid}`);
    process.kill(server.pid, "SIGTERM");
    expect(await server.process.exited).toBe(0);
  }, 60_000);

  test("files with secrets are readable by the owner only", async () => {
    const made = place();
    const server = await made.serve();
    expect(statSync(join(made.data_dir, "instance.key")).mode & 0o777).toBe(0o600);
    expect(statSync(join(made.data_dir, "svc.sock")).mode & 0o777).toBe(0o600);
    // Package clients write these folders, and would create them readable for others.
    for (const name of ["cache", "install"])
      expect(statSync(join(made.data_dir, "runner", name)).mode & 0o777).toBe(0o700);
    // As root, scripts with their own user ids pass through it, and nobody can list it.
    expect(statSync(made.data_dir).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o710 : 0o700);
    process.kill(server.pid, "SIGTERM");
    await server.process.exited;
  }, 60_000);

  test("the setup link creates the first admin account, once", async () => {
    const made = place();
    const server = await made.serve();
    expect((await fetch(server.setup_url!)).headers.get("content-type")).toContain("text/html");
    const body = new URLSearchParams({ email: "first@example.org", password: "pw-password" });
    const made1 = await fetch(server.setup_url!, { method: "POST", body });
    expect(made1.status).toBe(201);
    const token = await made1.text();
    const who = await fetch(`${server.url}/api/users/whoami`, { headers: { cookie: `token=${token}` } });
    expect(await who.json()).toMatchObject({ email: "first@example.org", super_admin: true });
    const again = await fetch(server.setup_url!, { method: "POST", body });
    expect(again.status).toBe(404);
    process.kill(server.pid, "SIGTERM");
    await server.process.exited;
  }, 60_000);

  test("on SIGTERM a short job completes, and a long one is requeued and runs after the restart", async () => {
    const made = place();
    const marks = join(made.folder, "marks");
    mkdirSync(marks);
    const env = { SVC_DRAIN_S: "1", SVC_SANDBOX_WRITE: marks };
    const server = await made.serve({ env });
    const token = await setUp(server);
    const headers = { authorization: `Bearer ${token}` };
    const content = `import { existsSync, writeFileSync } from "node:fs";
      export async function main(ms: number, mark: string) {
        if (existsSync(mark)) return "again";
        writeFileSync(mark, "");
        await Bun.sleep(ms);
        return "first";
      }`;
    await server.operator("/w/acme/scripts/create", { path: "u/ann/sleeps", language: "bun", content });
    const start = async (ms: number, mark: string) => {
      const body = JSON.stringify({ ms, mark: join(marks, mark) });
      return (
        await fetch(`${server.url}/api/w/acme/jobs/run/p/u/ann/sleeps`, { method: "POST", headers, body })
      ).text();
    };
    const short = await start(300, "short");
    const long = await start(60_000, "long");
    await until(
      () => (existsSync(join(marks, "long")) && existsSync(join(marks, "short")) ? true : undefined),
      "both to run",
    );
    process.kill(server.pid, "SIGTERM");
    expect(await server.process.exited).toBe(0);
    expect(await processesOf(made.data_dir)).toEqual([]);

    const next = await made.serve({ env });
    const result = async (id: string) =>
      until(async () => {
        const answer = await fetch(`${next.url}/api/w/acme/jobs_u/completed/get_result/${id}`, { headers });
        return answer.status === 200 ? answer.json() : undefined;
      }, id);
    expect([await result(short), await result(long)]).toEqual(["first", "again"]);
    process.kill(next.pid, "SIGTERM");
    await next.process.exited;
  }, 60_000);
});

describe("no process outlives its job", () => {
  const escaping = (mark: string) => `
    import { spawn } from "node:child_process";
    export async function main(how: string) {
      // Two forks and a new session, with an empty environment.
      spawn("sh", ["-c", "env -i setsid sh -c 'sleep 300.${mark} & sleep 300.${mark}' & exit 0"], { stdio: "ignore" });
      await Bun.sleep(300);
      if (how === "hang") await Bun.sleep(60_000);
      if (how === "exit") process.exit(0);
      return "done";
    }`;
  const sleepers = (mark: string) => processesOf(`sleep 300.${mark}`);

  test("when a job ends, times out or exits, and when the server is killed", async () => {
    const made = place();
    const server = await made.serve();
    const token = await setUp(server);
    const headers = { authorization: `Bearer ${token}` };
    const mark = String(Math.floor(Math.random() * 1e9));
    await server.operator("/w/acme/scripts/create", {
      path: "u/ann/escape",
      language: "bun",
      content: escaping(mark),
    });
    const run = (how: string, query = "") =>
      fetch(`${server.url}/api/w/acme/jobs/run_wait_result/p/u/ann/escape${query}`, {
        method: "POST",
        headers,
        body: JSON.stringify({ how }),
      }).then((response) => response.json() as Promise<any>);
    expect(await run("return")).toBe("done");
    expect(await sleepers(mark)).toEqual([]);
    expect((await run("hang", "?timeout=1")).error.name).toBe("ExecutionTimeout");
    expect(await sleepers(mark)).toEqual([]);
    expect((await run("exit")).error.message).toContain("code 0");
    expect(await sleepers(mark)).toEqual([]);

    await fetch(`${server.url}/api/w/acme/jobs/run/p/u/ann/escape`, {
      method: "POST",
      headers,
      body: '{"how":"hang"}',
    });
    await until(async () => ((await sleepers(mark)).length > 0 ? true : undefined), "the escaped process");
    process.kill(server.pid, "SIGKILL");
    await until(
      async () => ((await sleepers(mark)).length === 0 ? true : undefined),
      "the escaped process to be gone",
      15_000,
    );
    await until(
      async () => ((await processesOf(made.data_dir)).length === 0 ? true : undefined),
      "the children's end",
      15_000,
    );
  }, 60_000);
});
