/** State that a process keeps for its next job, and state that it does not: other callers, tokens, files. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer({ child_idle_s: 600, blank_children: 1 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const call = async (path: string, args: object = {}, as = ask) =>
  (await expectOk(as("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args))).json();

const script = (language: string, path: string, content: string, more: object = {}) =>
  deploy(ask, "acme", path, content, { language, ...more });

test("callers of a script that runs as another user do not share processes", async () => {
  const content = `
    let last = "nobody";
    export const main = (name: string) => ({ before: last, pid: process.pid, last: (last = name) });`;
  await deploy(ask, "acme", "u/admin/for_all", content, { on_behalf_of_email: "admin_acme@example.org" });
  const { ask: ann } = await server.member("acme", "ann");
  const { ask: bob } = await server.member("acme", "bob");
  for (const as of [ann, bob]) {
    await expectOk(
      ask("POST", "/w/acme/acls/add/script/u/admin/for_all", {
        owner: as === ann ? "u/ann" : "u/bob",
        write: false,
      }),
    );
  }
  const first = await call("u/admin/for_all", { name: "ann" }, ann);
  expect(first).toMatchObject({ before: "nobody" });
  expect(await call("u/admin/for_all", { name: "bob" }, bob)).toMatchObject({ before: "nobody" });
  expect(await call("u/admin/for_all", { name: "ann 2" }, ann)).toEqual({
    before: "ann",
    last: "ann 2",
    pid: first.pid,
  });
});

describe("a token", () => {
  /** Answers a request of the running job once the test has checked. */
  let whileRunning: (token: string) => Promise<string> = async () => "";
  const desk = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => new Response(await whileRunning(await request.text())),
  });
  afterAll(() => desk.stop(true));
  const status = async (token: string) => (await server.as(token)("GET", "/w/acme/users/whoami")).status;

  test.each([
    [
      "bun",
      `let runs = 0;
      export const main = async (desk: string) => {
        await (await fetch(desk, { method: "POST", body: process.env.WM_TOKEN })).text();
        return ++runs;
      }`,
      2,
    ],
    [
      "python3",
      `import os, urllib.request
runs = 0
def main(desk: str):
    global runs
    runs += 1
    urllib.request.urlopen(desk, data=os.environ["WM_TOKEN"].encode()).read()
    return runs`,
      2,
    ],
    ["bash", `host="$1"\ncurl -sS --data-binary "$WM_TOKEN" "$host" > /dev/null; echo 1`, "1"],
  ])(
    "expires with its job, even while a later job of the process runs: %s",
    async (language, content, runs) => {
      const path = `u/admin/token_${language}`;
      await script(language, path, content);
      const seen: string[] = [];
      const answers: number[][] = [];
      whileRunning = async (token) => {
        seen.push(token);
        answers.push(await Promise.all(seen.map(status)));
        return "";
      };
      await call(path, { desk: desk.url.href, host: desk.url.href });
      expect(await Promise.all(seen.map(status))).toEqual([401]);
      expect(await call(path, { desk: desk.url.href, host: desk.url.href })).toBe(runs);
      expect(answers).toEqual([[200], [401, 200]]);
      expect(new Set(seen).size).toBe(2);
    },
  );

  test("kept by a client of the process is replaced by the running job's in requests", async () => {
    const whoami = "/api/w/acme/users/whoami";
    await script(
      "bun",
      "u/admin/keeps",
      `const headers = { Authorization: "Bearer " + process.env.WM_TOKEN };
      let lazy: Headers | undefined;
      let runs = 0;
      export const main = async () => {
        lazy ??= new Headers(headers);
        const url = process.env.BASE_INTERNAL_URL + "${whoami}";
        const asked = [fetch(url, { headers }), fetch(new Request(url, { headers: lazy })), fetch(new URL(url), { headers: Object.entries(headers) })];
        return [++runs, ...(await Promise.all(asked)).map((answer) => answer.status)];
      }`,
    );
    for (const n of [1, 2, 3]) expect(await call("u/admin/keeps")).toEqual([n, 200, 200, 200]);
    await script(
      "bun",
      "u/admin/keeps_http",
      `import * as http from "node:http";
      const headers = { Authorization: "Bearer " + process.env.WM_TOKEN };
      let runs = 0;
      const get = (options: object) => new Promise((resolve, reject) => {
        const url = process.env.BASE_INTERNAL_URL + "${whoami}";
        const request = http.request(url, options, (answer) => resolve(answer.resume().statusCode)).on("error", reject);
        if (!("headers" in options)) request.setHeader("authorization", headers.Authorization);
        request.end();
      });
      export const main = async () => [++runs, await get({ headers }), await get({})];`,
    );
    for (const n of [1, 2, 3]) expect(await call("u/admin/keeps_http")).toEqual([n, 200, 200]);
    await script(
      "python3",
      "u/admin/keeps_py",
      `import os, urllib.request
request = urllib.request.Request(os.environ["BASE_INTERNAL_URL"] + "${whoami}", headers={"authorization": "Bearer " + os.environ["WM_TOKEN"]})
runs = 0
def main():
    global runs
    runs += 1
    return [runs, urllib.request.urlopen(request).status]`,
    );
    for (const n of [1, 2, 3]) expect(await call("u/admin/keeps_py")).toEqual([n, 200]);
  });

  test.each([
    [
      "bun",
      `export const main = () => { console.log("it is", process.env.WM_TOKEN); return { deep: [process.env.WM_TOKEN] } }`,
      { deep: ["*****"] },
    ],
    [
      "python3",
      `import os\ndef main():\n    print("it is", os.environ["WM_TOKEN"])\n    return {"deep": [os.environ["WM_TOKEN"]]}`,
      { deep: ["*****"] },
    ],
    ["bash", `echo "it is $WM_TOKEN"; echo "$WM_TOKEN"`, "*****"],
  ])("is masked in the log and the result: %s", async (language, content, result) => {
    const path = `u/admin/shows_${language}`;
    await script(language, path, content);
    for (let run = 0; run < 2; run++) {
      const id = (await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}`, {}))).text;
      const found = await until(async () => {
        const answer = (await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`)).json();
        return answer.completed ? answer : undefined;
      }, "the job");
      expect(found.result).toEqual(result);
      const log = (await expectOk(ask("GET", `/w/acme/jobs_u/get_logs/${id}`))).text;
      expect(log).toContain("it is *****");
    }
  });
});

describe("the folder of a job is empty at its start:", () => {
  /** Each leaves something that the next one must not see, and reports what it sees. */
  const LEAVES = {
    bun: `import * as fs from "node:fs";
      let runs = 0;
      export async function main(more = "") {
        const seen = [fs.readdirSync("."), process.cwd() === process.env.HOME, ++runs];
        fs.writeFileSync("secret.txt", "x"); fs.mkdirSync(".deep/er", { recursive: true });
        fs.symlinkSync("/usr", "link"); fs.symlinkSync("/nowhere", "shared");
        process.chdir(".deep");
        if (more === "later") setTimeout(() => fs.writeFileSync(process.env.HOME + "/late", ""), 5);
        if (more === "held") await Bun.sleep(30);
        return seen;
      }`,
    nativets: `import * as fs from "node:fs";
      let runs = 0;
      export function main() {
        const seen = [fs.readdirSync("."), true, ++runs];
        fs.writeFileSync("secret.txt", "x");
        return seen;
      }`,
    python3: `import os
runs = 0
def main():
    global runs
    runs += 1
    seen = [os.listdir("."), os.getcwd() == os.environ["HOME"], runs]
    os.makedirs(".deep/er")
    open("secret.txt", "w").close()
    open(b"a\\xffb", "w").close()
    os.symlink("/usr", "link"); os.symlink("/nowhere", "shared")
    os.chdir(".deep")
    return seen`,
  };
  test.each(Object.entries(LEAVES))("%s", async (language, content) => {
    const path = `u/admin/leaves_${language}`;
    await script(language, path, content);
    for (const run of [1, 2, 3, 4]) expect(await call(path)).toEqual([[], true, run]);
  });

  test("also of files that a timer writes between two jobs", async () => {
    await script("bun", "u/admin/leaves_late", LEAVES.bun);
    expect(await call("u/admin/leaves_late", { more: "later" })).toEqual([[], true, 1]);
    await call("u/admin/leaves_late", { more: "held" });
    expect(await call("u/admin/leaves_late")).toEqual([[], true, 3]);
  });

  test("bash", async () => {
    await script("bash", "u/admin/leaves_sh", `found=$(ls -A | wc -l); echo x > secret.txt; echo "$found"`);
    for (let run = 0; run < 3; run++) expect(await call("u/admin/leaves_sh")).toBe("0");
  });

  test("sqlite", async () => {
    await script(
      "sqlite",
      "u/admin/leaves_sql",
      "-- database ./scratch.db\nCREATE TABLE seen (n int); INSERT INTO seen VALUES (1); SELECT count(*) AS n FROM seen",
    );
    for (let run = 0; run < 3; run++) {
      const found = await call("u/admin/leaves_sql", { database: "./scratch.db" });
      expect(JSON.stringify(found)).toContain('"n":1');
    }
  });

  test.each([
    ["with the longest names", `const { readdirSync } = fs;`, `"x".repeat(255)`],
    ["if the script replaces functions", `const { readdirSync } = fs; fs.readdirSync = () => [];`, `"kept"`],
  ])("of files %s", async (what, before, name) => {
    const content = `import fs from "node:fs"; ${before}
      export function main() {
        const found = readdirSync(".");
        fs.writeFileSync(${name}, "");
        return found;
      }`;
    const path = `u/admin/leaves_${what.replaceAll(" ", "_")}`;
    await script("bun", path, content);
    for (let run = 0; run < 3; run++) expect(await call(path)).toEqual([]);
  });

  test("if it cannot be emptied, the process takes no other job", async () => {
    const content = `import * as fs from "node:fs";
      export function main() {
        const seen = [fs.readdirSync("."), process.pid];
        fs.writeFileSync(Buffer.from([0x61, 0xff, 0x62]), "a name that is not text");
        return seen;
      }`;
    await script("bun", "u/admin/leaves_much", content);
    const [, first] = await call("u/admin/leaves_much");
    const [found, second] = await call("u/admin/leaves_much");
    expect(found).toEqual([]);
    expect(second).not.toBe(first);
  });

  test.each([
    [
      "bun",
      `import * as fs from "node:fs"; fs.writeFileSync("made.txt", "at the top");\nexport const main = () => fs.readFileSync("made.txt", "utf8")`,
    ],
    ["python3", `open("made.txt", "w").write("at the top")\ndef main():\n    return open("made.txt").read()`],
  ])("but each job finds the files that loading its script creates: %s", async (language, content) => {
    const path = `u/admin/top_${language}`;
    await script(language, path, content);
    for (let run = 0; run < 3; run++) expect(await call(path)).toBe("at the top");
  });
});
