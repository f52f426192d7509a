/** `svc init`: from an empty folder to a running server. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";
import { ENTER, startSession } from "../../session.ts";

const ADMIN = ["--email", "ann@example.org", "--password", "correct-horse"];

/** Ends a server that continued after its command had ended. */
async function end(pid: number, url: string): Promise<void> {
  process.kill(pid, "SIGTERM");
  const isUp = () => fetch(`${url}/api/version`).catch(() => undefined);
  await until(async () => ((await isUp()) ? undefined : true), "the end of the server");
}

const whoami = async (place: CliEnvironment, url: string) => {
  const given = { email: "ann@example.org", password: "correct-horse" };
  const login = await fetch(`${url}/api/auth/login`, { method: "POST", body: JSON.stringify(given) });
  return place.svc(["script", "list", "--workspace", "main", "--url", url, "--token", await login.text()]);
};

test("five questions on a terminal, and a server runs with the answers", async () => {
  using place = createCliEnvironment();
  using session = startSession(place, ["init"]);
  await session.sees("Data directory");
  session.types(ENTER);
  await session.sees("Listen on");
  session.types(`nowhere${ENTER}`);
  await session.sees("must be an address and a port");
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  session.types(`${"\b".repeat(7)}127.0.0.1:${taken.port}${ENTER}`);
  await session.sees(`127.0.0.1:${taken.port} is in use; 127.0.0.1:`);
  await session.sees(" is free");
  session.types(`${"\b".repeat(15)}127.0.0.1:0${ENTER}`);
  await session.sees("E-mail of the admin");
  session.types(`ann${ENTER}`);
  await session.sees("is not an e-mail address");
  session.types(`@example.org${ENTER}`);
  await session.sees("Password of the admin");
  session.types(`correct-horse${ENTER}`);
  await session.sees("The same once more");
  session.types(`correct-horse${ENTER}`);
  await session.sees("First workspace");
  session.types(ENTER);
  await session.sees("svc runs on ");
  const { code, shown } = await session.ended();
  const [, url = "", pid = ""] = /svc runs on (\S+), as process (\d+)/.exec(shown) ?? [];
  try {
    expect(code).toBe(0);
    expect(shown).not.toContain("correct-horse");
    expect(await whoami(place, url)).toMatchObject({ code: 0 });
    const again = await place.svc(["init", ...ADMIN]);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("a server is up already on ") });
  } finally {
    await end(Number(pid), url);
  }
}, 60_000);

test("the suggested next commands work on the chosen folder", async () => {
  using place = createCliEnvironment();
  using session = startSession(place, ["init", ...ADMIN, "--listen", "127.0.0.1:0", "--workspace", "acme"], {
    SVC_DATA_DIR: "",
  });
  await session.sees("Data directory");
  session.types(`~/my data${ENTER}`);
  await session.sees("svc runs on ");
  const { shown } = await session.ended();
  const [, url = "", pid = ""] = /svc runs on (\S+), as process (\d+)/.exec(shown) ?? [];
  try {
    const named = `--data-dir '${join(realpathSync(place.folder), "my data")}'`;
    const unwrapped = shown.replace(/\s+/g, " ");
    expect(unwrapped).toContain(`svc script push hello.ts u/ann/hello ${named}`);
    expect(unwrapped).toContain(`svc stop ${named}`);
    expect(unwrapped).toContain(`svc serve ${named}`);
  } finally {
    await end(Number(pid), url);
  }
}, 60_000);

test("without a terminal the options are enough, and nothing is asked", async () => {
  using place = createCliEnvironment();
  const missing = await place.svc(["init"]);
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("error: --email is missing") });
  const noPassword = await place.svc(["init", "--email", "ann@example.org"]);
  expect(noPassword.err).toContain(
    "--password is missing\nhint: there is no terminal to prompt on; use --password-stdin",
  );
  const words = ["init", "--email", "ann@example.org", "--password-stdin", "--listen", "0", "--json"];
  const made = await place.svc([...words, "--base-url", "https://svc.example.org"], {
    stdin: "correct-horse\n",
  });
  expect({ code: made.code, err: made.err }).toEqual({ code: 0, err: "" });
  const { url, pid, workspace } = JSON.parse(made.out);
  try {
    expect(workspace).toBe("main");
    expect(await whoami(place, url)).toMatchObject({ code: 0 });
    expect((await place.svc(["config", "get", "base_url"])).out).toContain("https://svc.example.org");
    // Items created locally belong to the admin that `svc init` created.
    expect(JSON.parse((await place.svc(["whoami", "--json"])).out).email).toBe("ann@example.org");
    await place.svc(["folder", "create", "ops"]);
    expect((await place.svc(["folder", "get", "ops"])).out).toContain("u/ann");
    const token = (await place.svc(["token", "create", "--label", "mine"])).out.trim();
    expect((await place.svc(["token", "list"])).out).toContain(token.slice(0, 10));
  } finally {
    await end(pid, url);
  }
  const again = await place.svc(["init", ...ADMIN, "--listen", "0"]);
  expect(again).toMatchObject({
    code: 1,
    err: expect.stringContaining("is set up already: there are users in it"),
  });
}, 60_000);

test("errors are reported before anything is written, with a remedy", async () => {
  using place = createCliEnvironment();
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const cases: [words: string[], error: string][] = [
    [["--listen", "here"], "--listen here: must be an address and a port\nhint: such as 127.0.0.1:8000"],
    [["--listen", `127.0.0.1:${taken.port}`], `127.0.0.1:${taken.port} is in use; 127.0.0.1:`],
    [["--listen", "0", "--email", "ann"], '--email: "ann" is not an e-mail address'],
    [["--listen", "0", "--workspace", "a b"], '--workspace: "a b" cannot be a workspace id'],
  ];
  for (const [words, error] of cases) {
    const { code, err } = await place.svc(["init", ...ADMIN, ...words]);
    expect({ words, failed: code > 0, err }).toEqual({
      words,
      failed: true,
      err: expect.stringContaining(error),
    });
  }
  expect(readdirSync(place.data_dir)).toEqual([]);
}, 60_000);

test("a systemd unit is written, with the commands that enable it, and systemd accepts it", async () => {
  using place = createCliEnvironment();
  const data = join(place.folder, 'my "own" data');
  const words = ["init", ...ADMIN, "--listen", "127.0.0.1:0", "--data-dir", data, "--systemd", "user"];
  // As after su: the account is that of the process, whatever USER contains.
  const { code, out } = await place.svc(words, { env: { USER: "somebody-else" } });
  const file = join(place.folder, ".config/systemd/user/svc.service");
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(`wrote ${file}`) });
  expect(out).toContain("  systemctl --user daemon-reload\n  systemctl --user enable --now svc\n");
  const account = Bun.spawnSync(["id", "-un"]).stdout.toString();
  expect(out).toContain(`\n  loginctl enable-linger ${account}`);
  const unit = await Bun.file(file).text();
  const start = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? "";
  // A free port is chosen once: the unit uses the same one at each start.
  expect(start).toContain(`serve --data-dir "${place.folder}/my \\"own\\" data" --host 127.0.0.1 --port `);
  expect(start).toMatch(/ --port [1-9]\d+$/);
  expect(existsSync(join(data, "svc.sock"))).toBe(false);
  const verify = Bun.which("systemd-analyze");
  if (!verify) return;
  const checked = Bun.spawnSync([verify, "verify", "--user", file], { env: place.environment });
  expect(checked.stderr.toString()).not.toContain("svc.service");
  rmSync(file);
}, 60_000);

test("environment settings are stored for the unit's server, readable by the owner only", async () => {
  using place = createCliEnvironment();
  const data = join(place.folder, "data");
  const key = String.raw`a "quoted" key of $32 \ characters`;
  const env = { SVC_SECRET_KEY: key, SVC_WORKERS: "3", SVC_PORT: "1" };
  const words = ["init", ...ADMIN, "--listen", "127.0.0.1:0", "--data-dir", data, "--systemd", "user"];
  const { code, out, err } = await place.svc(words, { env });
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(`kept for it in ${data}/svc.env`) });
  const file = join(place.folder, ".config/systemd/user/svc.service");
  const unit = await Bun.file(file).text();
  expect(unit).toContain(`\nEnvironmentFile=${data}/svc.env\n`);
  for (const text of [unit, out, err]) expect(text).not.toContain("characters");
  expect(statSync(join(data, "svc.env")).mode & 0o777).toBe(0o600);
  // A shell parses these lines as systemd does.
  const read = Bun.spawnSync(
    ["sh", "-c", '. "$0"; printf "%s|%s|%s" "$SVC_SECRET_KEY" "$SVC_WORKERS" "$SVC_PORT"'].concat(
      join(data, "svc.env"),
    ),
    { env: { PATH: process.env.PATH } },
  );
  expect(read.stdout.toString()).toBe(`${key}|3|`);
}, 60_000);
