/** `svc api`: access to every operation, in the three ways to reach the service. */
import { expect, test } from "bun:test";
import { VERSION } from "../../../src/lib/version.ts";
import { startTestServer } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, formatError, type RunOptions } from "../program.ts";

interface Line extends RunOptions {
  words: string[];
  out?: unknown;
  err?: string;
  code?: number;
}

const LIST_HINT = "such as svc api GET w/{workspace}/scripts/list; svc api --list tells all";
const MAKE = "w/{workspace}/folders/create";

/** `out` is compared as JSON unless it is a text. */
const LINES: Line[] = [
  { words: ["version"], out: `CE v1.423.2-svc.${VERSION}\n` },
  { words: ["GET", "/api/version"], out: `CE v1.423.2-svc.${VERSION}\n` },
  { words: [MAKE, "-d", '{"name":"one"}'], out: "folder one created\n" },
  { words: ["post", MAKE, "-d", "@two.json"], out: "folder two created\n" },
  { words: [MAKE, "-d", "-"], stdin: '{"name":"three"}', out: "folder three created\n" },
  { words: ["w/acme/folders/listnames"], out: ["one", "two", "three"] },
  { words: ["w/acme/folders/list?page=9", "--query", "per_page=1"], out: [] },
  {
    words: ["w/acme/jobs/run_wait_result/preview", "-d", '{"content":"export const main = () => [7]"}'],
    out: [7],
  },
  { words: ["DELETE", "w/acme/folders/delete/two"], out: "folder two deleted\n" },
  {
    words: ["w/acme/folders/get/two"],
    code: 1,
    err: "error: there is no folder two in workspace acme\nhint: svc api --list tells which operations there are\n",
  },
  {
    words: [MAKE, "-d", "{"],
    code: 2,
    err: formatError(
      "--data is not JSON: JSON Parse error: Expected '}'",
      "for another kind of body say which: -H 'content-type: text/plain'",
    ),
  },
  { words: [], code: 2, err: formatError("the path is missing", LIST_HINT) },
  { words: ["POST"], code: 2, err: formatError("the path is missing", LIST_HINT) },
  {
    words: ["FETCH", "version"],
    code: 2,
    err: formatError("FETCH is not a method of HTTP", "use GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"),
  },
  {
    words: ["https://example.org/api/version"],
    code: 2,
    err: formatError("the path must be one below /api, without the server", LIST_HINT),
  },
  {
    words: ["version", "--query", "a"],
    code: 2,
    err: formatError("--query a: must be a name and a value", "such as --query per_page=5"),
  },
  {
    words: ["--list", "folders/get/"],
    out: "GET\t/api/w/{workspace}/folders/get/{name}\tmember\tsrc/features/accounts/folders/operations.ts\n",
  },
];

async function runAll(place: CliEnvironment, common: string[]): Promise<void> {
  await place.file("two.json", '{"name":"two"}');
  const made = [
    ["user", "create", "--email", "ann@example.org", "--password", "correct-horse"],
    ["workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org"],
  ];
  for (const words of made) expect((await place.svc([...words, ...common])).code).toBe(0);
  for (const { words, out = "", err = "", code = 0, stdin } of LINES) {
    const ended = await place.svc(["api", ...words, ...common], stdin === undefined ? {} : { stdin });
    const shown = typeof out === "string" ? ended.out : JSON.parse(ended.out);
    const expected = Array.isArray(out) ? expect.arrayContaining(out) : out;
    expect({ words, code: ended.code, err: ended.err, shown }).toEqual({ words, code, err, shown: expected });
  }
}

test("on the data directory itself", async () => {
  using place = createCliEnvironment();
  await runAll(place, []);
}, 60_000);

test("a slow response is waited for at the socket, by one job", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace("acme");
  const content = "export const main = async () => (await Bun.sleep(13_000), 'slept');";
  await ask("POST", "/w/acme/scripts/create", { path: "u/admin/slow", language: "bun", content });
  const slow = await place.svc(["api", "w/acme/jobs/run_wait_result/p/u/admin/slow"]);
  expect(slow).toEqual({ code: 0, out: '"slept"\n', err: "" });
  const jobs = await ask("GET", "/w/acme/jobs/list?script_path_exact=u/admin/slow&job_kinds=script");
  expect(jobs.json()).toHaveLength(1);
}, 60_000);

test("through the socket of its server", async () => {
  using place = createCliEnvironment();
  await using _ = await startTestServer({ data_dir: place.data_dir });
  await runAll(place, []);
}, 60_000);

test("over HTTP; an unknown token exits with 3", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { token } = await server.user("operator", { super_admin: true });
  await runAll(place, ["--url", server.url, "--token", token]);
  const refused = await place.svc(["api", "users/whoami", "--url", server.url, "--token", "wrong"]);
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining("hint: check the token") });
  const shown = await place.svc(["api", "-i", "version", "--url", server.url]);
  expect(shown.err).toStartWith("200 OK\n");
}, 60_000);
