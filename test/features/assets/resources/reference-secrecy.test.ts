/** Secrets that references resolve to in jobs are not stored, listed or logged. */
import { expect, test } from "bun:test";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import { ask, ended, run, SECRET, server, setUpReferences } from "./references-setup.ts";

setUpReferences();

test("an argument that the schema marks as a password is never stored in plain text", async () => {
  const schema = {
    type: "object",
    properties: {
      one: { type: "string", format: "password" },
      two: { password: true },
      three: { type: "string" },
    },
  };
  const content = `export const main = (one: string, two: unknown, three: string) => {
    console.log(one, three);
    return [one.length, two, three];
  }`;
  await deploy(ask, "acme", "u/admin/login", content, { schema });
  const given = { one: `${SECRET}-given`, two: { deep: 1 }, three: "shown" };
  const { result, args, log } = await run("u/admin/login", given);
  expect(result).toEqual([given.one.length, { deep: 1 }, "shown"]);
  const sealed = expect.stringMatching(/^\$encrypted:v1:/);
  expect(args).toEqual({ one: sealed, two: sealed, three: "shown" });
  expect(log).toBe("***** shown\n");
  const referring = { one: "$var:u/admin/secret", two: null, three: "" };
  expect((await run("u/admin/login", referring)).args).toEqual(referring);

  const step = { type: "rawscript", language: "bun", content: "export const main = (x: string) => x.length" };
  const input_transforms = { x: { type: "javascript", expr: "flow_input.one" } };
  const value = { modules: [{ id: "a", value: { ...step, input_transforms } }] };
  await expectOk(
    ask("POST", "/w/acme/flows/create", { path: "u/admin/login_flow", summary: "", value, schema }),
  );
  const flow = await ended(
    (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/login_flow", given))).text,
  );
  expect([flow.result, flow.args.one]).toEqual([given.one.length, sealed]);
  expect((await readStored(server)).includes(given.one)).toBe(false);
});

test("secrets that jobs receive, print and fail with are in no file, list, error, log or audit row", async () => {
  await using own = await startTestServer();
  const { ask: admin } = await own.workspace();
  const marker = "zq7";
  const secrets = ["plain", "multi"].map((name) => `${marker}-${name}-${Bun.randomUUIDv7()}`);
  const [first, second] = secrets as [string, string];
  await expectOk(
    admin("POST", "/w/acme/variables/create", {
      path: "u/admin/first",
      value: first,
      is_secret: true,
      description: "d",
    }),
  );
  await expectOk(
    admin("POST", "/w/acme/variables/create", {
      path: "u/admin/second",
      value: `begin\n${second}\nend`,
      is_secret: true,
      description: "d",
    }),
  );
  await expectOk(
    admin("POST", "/w/acme/resources/create", {
      path: "u/admin/both",
      value: { a: "$var:u/admin/first", b: ["$var:u/admin/second"] },
      resource_type: "any",
    }),
  );
  const args = { db: "$res:u/admin/both", one: "$var:u/admin/first", sealed: "" };
  args.sealed = `$encrypted:${(await admin("POST", "/w/acme/variables/encrypt", JSON.stringify(first), { "content-type": "application/json" })).text}`;
  const scripts: [language: string, content: string][] = [
    [
      "bun",
      `export function main(db: any, one: string, sealed: string) {
      console.log(db, one, sealed); console.error(JSON.stringify(db));
      throw Object.assign(new Error("cannot use " + one), { used: [db, sealed] });
    }`,
    ],
    [
      "python3",
      'def main(db, one, sealed):\n    print(db, one, sealed)\n    raise ValueError("cannot use %s" % db["b"][0])',
    ],
    ["bash", 'db="$1"\none="$2"\nsealed="$3"\necho "$db $one $sealed"\nexit 3'],
  ];
  const shown: string[] = [];
  const finish = async (id: string) => {
    await until(async () =>
      (await admin("GET", `/w/acme/jobs_u/completed/get/${id}`)).status === 200 ? true : undefined,
    );
    for (const path of [`jobs_u/get/${id}`, `jobs_u/completed/get/${id}`, `jobs_u/get_logs/${id}`]) {
      shown.push((await expectOk(admin("GET", `/w/acme/${path}`))).text);
    }
  };
  for (const [language, content] of scripts) {
    await deploy(admin, "acme", `u/admin/${language}`, content, { language });
    await finish((await expectOk(admin("POST", `/w/acme/jobs/run/p/u/admin/${language}`, args))).text);
  }
  const content = "export const main = (x: unknown) => { console.log(x); return typeof x }";
  const input_transforms = {
    x: { type: "javascript", expr: "'Bearer ' + variable('u/admin/first') + resource('u/admin/both').b[0]" },
  };
  const value = {
    modules: [{ id: "a", value: { type: "rawscript", language: "bun", content, input_transforms } }],
  };
  await finish((await expectOk(admin("POST", "/w/acme/jobs/run/preview_flow", { value, args }))).text);
  for (const path of [
    "variables/list",
    "resources/list",
    "resources/list_search",
    "audit/list?per_page=1000",
    "jobs/list?per_page=100",
  ]) {
    shown.push((await expectOk(admin("GET", `/w/acme/${path}`))).text);
  }
  const everything = [...shown, await readStored(own)].join("\n");
  expect(everything).toContain("u/admin/first");
  expect(everything).toContain("*****");
  for (const secret of secrets) {
    for (const form of [secret, Buffer.from(secret).toString("base64").slice(0, -4)]) {
      expect(everything.includes(form)).toBe(false);
    }
  }
}, 60_000);
