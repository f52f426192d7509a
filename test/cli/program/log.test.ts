/** The log of `svc serve`: its content and format, and what it never contains. */
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { redactCredentials } from "../../../src/lib/logging/redact.ts";
import { until } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, start } from "../program.ts";
import { startSession } from "../session.ts";

setDefaultTimeout(60_000);

const PASSWORD = "correct-horse-battery";

async function serve(place: CliEnvironment, env: Record<string, string>) {
  const going = start(place, ["serve", "--port", "0", "--json"], env);
  const said = await going.says('"pid"');
  const url = /^ {2}"url": "(http[^"]+)"/m.exec(said)![1]!;
  return { going, url };
}

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test("each request is a line at debug, with its id and job, and without credentials", async () => {
  using place = createCliEnvironment();
  const email = "ann@example.org";
  await place.svc([
    "user",
    "create",
    "--email",
    email,
    "--password",
    PASSWORD,
    "--super-admin",
    "--username",
    "ann",
  ]);
  await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", email]);
  const metrics = "metrics-token-nobody-sees";
  const { going, url } = await serve(place, { SVC_LOG_LEVEL: "debug", SVC_METRICS_TOKEN: metrics });
  const login = await fetch(`${url}/api/auth/login`, {
    method: "POST",
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const token = await login.text();
  expect(login.status).toBe(200);
  const run = `${url}/api/w/acme/jobs/run/preview`;
  const preview = {
    language: "bun",
    content: "export const main = () => 1",
    args: { password: "arg-secret" },
  };
  const body = JSON.stringify(preview);
  const calls: [string, RequestInit][] = [
    [run, { method: "POST", body, headers: { authorization: `Bearer ${token}`, "x-request-id": "mine-1" } }],
    [run, { method: "POST", body, headers: { cookie: `token=${token}` } }],
    [`${run}?token=${token}`, { method: "POST", body }],
    [`${url}/api/nothing/${token}?token=${token}`, {}],
    [`${url}/api/users/whoami?token=wrong${token}`, { headers: { cookie: `token=bad${token}` } }],
    [`${url}/api/metrics`, { headers: { authorization: `Bearer ${metrics}` } }],
    [`${url}/api/setup/${token}`, {}],
  ];
  for (const [where, init] of calls) await (await fetch(where, init)).text();
  going.child.kill("SIGTERM");
  const { err, out } = await going.ended();
  for (const secret of [token, PASSWORD, metrics, "arg-secret"]) expect(err + out).not.toContain(secret);
  const logged = lines(err);
  expect(logged).toContainEqual(
    expect.objectContaining({
      level: "debug",
      msg: "request",
      request_id: "mine-1",
      method: "POST",
      route: "/api/w/{workspace}/jobs/run/preview",
      workspace: "acme",
      status: 201,
      address: "127.0.0.1",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    }),
  );
  expect(logged.filter(({ msg }) => msg === "request").length).toBeGreaterThanOrEqual(6);
});

test("lines about a job contain the id of its request: for a flow's steps, and after a restart", async () => {
  using place = createCliEnvironment();
  await place.svc(["user", "create", "--email", "ann@example.org", "--password", PASSWORD, "--super-admin"]);
  await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org"]);
  const first = await serve(place, { SVC_LOG_LEVEL: "debug" });
  const login = await fetch(`${first.url}/api/auth/login`, {
    method: "POST",
    body: JSON.stringify({ email: "ann@example.org", password: PASSWORD }),
  });
  const headers = { authorization: `Bearer ${await login.text()}` };
  const ask = async (url: string, path: string, body: object, request_id: string) => {
    const init = {
      method: "POST",
      body: JSON.stringify(body),
      headers: { ...headers, "x-request-id": request_id },
    };
    return (await fetch(`${url}/api/w/acme/jobs/run${path}`, init)).text();
  };
  const untilDone = (url: string, job: string) =>
    until(async () => {
      const answer = await fetch(`${url}/api/w/acme/jobs_u/completed/get_result/${job}`, { headers });
      return answer.status === 200 || undefined;
    }, `job ${job}`);
  const code = { language: "bun", content: "export const main = () => 1" };
  const module = { id: "a", value: { type: "rawscript", ...code, input_transforms: {} } };
  const flow = await ask(first.url, "/preview_flow", { value: { modules: [module] }, args: {} }, "the-flow");
  await untilDone(first.url, flow);
  const due = new Date(Date.now() + 4_000).toISOString();
  const later = await ask(first.url, `/preview?scheduled_for=${due}`, { ...code, args: {} }, "the-late-one");
  first.going.child.kill("SIGTERM");
  const ended = (err: string) => lines(err).filter(({ msg }) => msg === "a job ended");
  expect(ended((await first.going.ended()).err)).toEqual([
    expect.objectContaining({
      level: "debug",
      request_id: "the-flow",
      job: expect.any(String),
      root_job: flow,
      workspace: "acme",
      kind: "flowscript",
      status: "success",
      ms: expect.any(Number),
    }),
  ]);
  const second = await serve(place, { SVC_LOG_LEVEL: "debug" });
  await untilDone(second.url, later);
  second.going.child.kill("SIGTERM");
  expect(ended((await second.going.ended()).err)).toEqual([
    expect.objectContaining({ request_id: "the-late-one", job: later, kind: "preview" }),
  ]);
});

test("an internal error names its job and the request", async () => {
  using place = createCliEnvironment();
  const { going } = await serve(place, {});
  const operator = (path: string, body: object, headers = {}) =>
    fetch(`http://localhost/api${path}`, {
      unix: `${place.data_dir}/svc.sock`,
      method: "POST",
      body: JSON.stringify(body),
      headers,
    }).then((answer) => answer.text());
  await operator("/users/create", { email: "ann@example.org", password: PASSWORD, super_admin: true });
  await operator("/workspaces/create", { id: "acme", name: "Acme", owner: "ann@example.org" });
  const file = new Database(`${place.data_dir}/svc.db`);
  file.run(
    "CREATE TRIGGER refuse BEFORE UPDATE OF state ON jobs WHEN NEW.state = 'completed' BEGIN SELECT RAISE(ABORT, 'refused'); END",
  );
  const body = { language: "bun", content: "export const main = () => 1", args: {} };
  const job = await operator("/w/acme/jobs/run/preview", body, { "x-request-id": "r-9" });
  const message = "a job's end could not be stored yet";
  const line = lines(await going.says(`${message}"}\n`)).find(({ msg }) => msg === message);
  expect(line).toMatchObject({ level: "error", job, request_id: "r-9" });
  file.run("DROP TRIGGER refuse");
  file.close();
  going.child.kill("SIGTERM");
  await going.ended();
});

test("at info, requests leave no line; an internal error leaves one with the request's id", async () => {
  using place = createCliEnvironment();
  const { going, url } = await serve(place, {});
  const answer = await fetch(`${url}/api/version`);
  expect(answer.headers.get("x-request-id")).toBeString();
  const file = new Database(`${place.data_dir}/svc.db`);
  file.run("ALTER TABLE users RENAME TO gone");
  file.close();
  const failed = await until(async () => {
    const body = JSON.stringify({ email: "a@b.cd", password: PASSWORD });
    const login = await fetch(`${url}/api/auth/login`, {
      method: "POST",
      body,
      headers: { "x-request-id": "r-7" },
    });
    return login.status === 500 ? login : undefined;
  }, "a failure");
  expect(await failed.text()).not.toContain("users");
  going.child.kill("SIGTERM");
  const { err } = await going.ended();
  const logged = lines(err);
  expect(logged.filter(({ msg }) => msg === "request")).toEqual([]);
  expect(logged).toContainEqual(
    expect.objectContaining({ level: "error", request_id: "r-7", operation: "login" }),
  );
  expect(err).not.toContain(PASSWORD);
});

test("texts that look like credentials are redacted", () => {
  for (const [text, clean] of [
    ["GET /x?a=1&token=abcdef&b=2", "GET /x?a=1&token=*****&b=2"],
    ["cookie: theme=dark; token=abc; x=1", "cookie: theme=dark; token=*****; x=1"],
    ["Authorization: Bearer abcdefgh.ijk", "Authorization: Bearer *****"],
    ["postgres://ann:hunter2@db/svc is down", "postgres://ann:*****@db/svc is down"],
    ['{"msg":"?signature=ff00","n":1}', '{"msg":"?signature=*****","n":1}'],
    ["the token is gone", "the token is gone"],
  ] as const) {
    expect(redactCredentials(text)).toBe(clean);
  }
});

test("credentials are redacted in every field", async () => {
  const program = `
    import { createLog } from ${JSON.stringify(join(import.meta.dir, "../../../src/lib/logging/log.ts"))};
    const log = createLog("info", process.argv[1]);
    log.error({ error: "GET /api/x?token=SECRET1&b=2 failed", stack: "at https://ann:SECRET2@host/x" }, "no: Bearer SECRET3-SECRET3");
    log.warn({ authorization: "SECRET4", headers: { cookie: "a=SECRET5", authorization: "SECRET6" } }, "kept");
    log.warn({ request: { headers: { "set-cookie": "SECRET7" } }, token: "SECRET8", password: "SECRET9" }, "kept");`;
  for (const format of ["json", "pretty"]) {
    const run = Bun.spawnSync([process.execPath, "-e", program, format], { stderr: "pipe" });
    const text = run.stderr.toString();
    expect([format, text.match(/kept/g)?.length]).toEqual([format, 2]);
    expect(text).toContain("b=2 failed");
    expect(text).not.toContain("SECRET");
  }
});

test("on a terminal, or on request, lines are readable", async () => {
  using place = createCliEnvironment();
  using session = startSession(place, ["serve", "--port", "0"]);
  await session.sees("svc listens on");
  const { going } = await serve(newPlaceOf(place, "other"), {
    SVC_LOG_LEVEL: "debug",
    SVC_LOG_FORMAT: "pretty",
  });
  going.child.kill("SIGTERM");
  const { err } = await going.ended();
  expect(err).toMatch(/^\d\d:\d\d:\d\d\.\d{3} DEBUG the database was migrated migrations=\["0000_init"/m);
  session.types("\x03");
  expect((await session.ended()).code).toBe(0);
});

const newPlaceOf = (place: CliEnvironment, name: string): CliEnvironment => ({
  ...place,
  environment: { ...place.environment, SVC_DATA_DIR: `${place.folder}/${name}` },
});

test.each([
  ["SVC_LOG_LEVEL", "loud", "must be one of trace, debug, info, warn, error, fatal, silent"],
  ["SVC_LOG_FORMAT", "xml", "must be one of auto, json, pretty"],
  ["SVC_METRICS", "yes", "must be one of on, off"],
  ["SVC_TRUSTED_PROXIES", "10.0.0.0/99", "is neither an address nor a range"],
])("%s=%s is rejected at startup", async (name, value, says) => {
  using place = createCliEnvironment();
  const run = await place.svc(["serve", "--port", "0"], { env: { [name]: value } });
  expect([run.code, run.err]).toEqual([1, expect.stringContaining(says)]);
});
