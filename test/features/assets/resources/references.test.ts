/** References in the arguments of jobs: resolved just before the run, never stored in plain text. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk } from "../../../support/harness.ts";
import { ask, dev, ended, KEY, run, SECRET, server, setUpReferences, variable } from "./references-setup.ts";

setUpReferences();

const encrypt = async (text: string, to = ask) =>
  `$encrypted:${(await expectOk(to("POST", "/w/acme/variables/encrypt", JSON.stringify(text), { "content-type": "application/json" }))).text}`;

const runFlow = async (value: object, args: object = {}) =>
  ended((await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value, args }))).text);

const plainDb = { host: "db.example.org", password: SECRET, hosts: ["eu-1"] };

describe("a reference", () => {
  const followed: [what: string, given: unknown, found: unknown][] = [
    ["to a variable", "$var:u/admin/region", "eu-1"],
    ["to a secret", "$var:u/admin/secret", SECRET],
    ["to a secret of several lines", "$var:u/admin/key", KEY],
    ["with a leading slash", "$var:/u/admin/region", "eu-1"],
    ["to a resource", "$res:u/admin/db", plainDb],
    ["through resources", "$res:u/admin/app", { db: plainDb, home: "acme" }],
    ["in arrays, at any depth", [{ a: ["$var:u/admin/region", 1] }, null], [{ a: ["eu-1", 1] }, null]],
    ["to a fact of the job", ["$WM_WORKSPACE", "$WM_USERNAME"], ["acme", "admin"]],
    ["that is none", ["$", "$5.00", "$NOT_KNOWN", "$constructor", "x $var:u/admin/region"], undefined],
  ];
  test.each(followed)("%s is resolved, and stored as it was given", async (_, given, found = given) => {
    const { success, result, args } = await run("u/admin/echo", { x: given });
    expect([success, result]).toEqual([true, found]);
    expect(args).toEqual({ x: given });
  });

  test("is recognized with any JSON escapes", async () => {
    const { result } = await run("u/admin/echo", String.raw`{"x":"\u0024var:u/admin/region"}`);
    expect(result).toBe("eu-1");
  });

  test("to an encrypted value gives JSON, or else text", async () => {
    for (const [text, found] of [
      ["just text", "just text"],
      ['{"a":[1]}', { a: [1] }],
    ] as const) {
      expect((await run("u/admin/echo", { x: { deep: await encrypt(text) } })).result).toEqual({
        deep: found,
      });
    }
  });

  test("to the token gives one that acts as the job", async () => {
    const content = `export async function main(token: string) {
      const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/users/whoami";
      const answer = await fetch(url, { headers: { authorization: "Bearer " + token } });
      return (await answer.json()).username;
    }`;
    await deploy(ask, "acme", "u/admin/who", content);
    expect((await run("u/admin/who", { token: "$WM_TOKEN" })).result).toBe("admin");
  });

  test.each([
    ["bash", 'db="$1"\necho "$db"'],
    ["python3", "def main(db):\n    return db"],
  ])("is resolved for %s", async (language, content) => {
    await deploy(ask, "acme", `u/admin/in_${language}`, content, { language });
    expect((await run(`u/admin/in_${language}`, { db: "$var:u/admin/region" })).result).toBe("eu-1");
  });

  test("is resolved in previews", async () => {
    const body = { content: "export const main = (x) => x", language: "bun", args: { x: "$res:u/admin/db" } };
    const { result } = await ended((await expectOk(ask("POST", "/w/acme/jobs/run/preview", body))).text);
    expect(result).toEqual(plainDb);
  });

  const refused: [what: string, given: unknown, message: string[], who: "admin" | "dev"][] = [
    [
      "that does not exist",
      { db: [{ p: "$var:u/admin/nope" }] },
      ["argument x.db[0].p: $var:u/admin/nope"],
      "admin",
    ],
    ["to no resource", "$res:u/admin/nope", ["argument x: $res:u/admin/nope", "cannot be resolved"], "admin"],
    ["to what the runner may not read", "$var:u/admin/secret", ["argument x: $var:u/admin/secret"], "dev"],
    [
      "to a resource that does not exist",
      "$res:u/admin/dangling",
      ["argument x: resource u/admin/dangling: $var:u/admin/gone"],
      "admin",
    ],
    [
      "in a circle",
      { a: "$res:u/admin/one" },
      ["argument x.a: ", "circle: u/admin/one → u/admin/two → u/admin/one"],
      "admin",
    ],
    [
      "to what is not encrypted",
      "$encrypted:nonsense",
      ["argument x: $encrypted:…", "not encrypted by this service"],
      "admin",
    ],
  ];
  test.each(refused)("%s fails the job before it runs", async (_, given, messages, who) => {
    const [path, to] = who === "dev" ? ["u/dev/echo", dev] : ["u/admin/echo", ask];
    const { success, result } = await run(path, { x: given }, to);
    expect(success).toBe(false);
    for (const message of messages) expect(result.error.message).toContain(message);
    expect(JSON.stringify(result)).not.toContain(SECRET);
  });

  test("encrypted by another workspace's key is rejected", async () => {
    await expectOk(
      server.operator("POST", "/workspaces/create", {
        id: "beyond",
        name: "Beyond",
        owner: "admin_acme@example.org",
        username: "admin",
      }),
    );
    const sealed = (
      await ask("POST", "/w/beyond/variables/encrypt", '"elsewhere"', { "content-type": "application/json" })
    ).text;
    const { success, result } = await run("u/admin/echo", { x: `$encrypted:${sealed}` });
    expect(success).toBe(false);
    expect(result.error.message).toContain("argument x");
  });

  test("to a secret leaves the audit row of reading it", async () => {
    const { id } = await run("u/admin/echo", { x: ["$var:u/admin/secret", "$var:u/admin/region"] });
    const rows = (
      await ask("GET", "/w/acme/audit/list?operation=variables.decrypt_secret&per_page=100")
    ).json();
    const own = rows.filter((row: any) => row.parameters?.job_id === id);
    expect(own.map((row: any) => [row.resource, row.username])).toEqual([["u/admin/secret", "admin"]]);
  });

  test("to a missing item fails the next run, not the previous one", async () => {
    await variable(ask, "u/admin/brief", "here");
    expect((await run("u/admin/echo", { x: "$var:u/admin/brief" })).result).toBe("here");
    await expectOk(ask("DELETE", "/w/acme/variables/delete/u/admin/brief"));
    expect((await run("u/admin/echo", { x: "$var:u/admin/brief" })).success).toBe(false);
  });
});

describe("a preprocessor", () => {
  test.each([
    [
      "bun",
      "export const preprocessor = (event: any) => ({ seen: event.body.x, db: event.body.x });\nexport const main = (seen: string, db: string) => db",
    ],
    [
      "python3",
      "def preprocessor(event):\n    return {'seen': event['body']['x'], 'db': event['body']['x']}\ndef main(seen, db):\n    return db",
    ],
  ])("in %s receives references unresolved; those in its result are resolved", async (language, content) => {
    const path = `u/admin/pre_${language}`;
    await deploy(ask, "acme", path, content, { language });
    const good = await run(path, { x: "$var:u/admin/secret" });
    expect([good.result, good.args.seen]).toEqual([SECRET, "$var:u/admin/secret"]);
    const bad = await run(path, { x: "$var:u/admin/nope" });
    expect(bad.result.error).toEqual({
      name: "BadRequest",
      message: expect.stringContaining("argument seen: $var:u/admin/nope"),
    });
    expect(bad.args.seen).toBe("$var:u/admin/nope");
  });
});

describe("a flow", () => {
  const step = (id: string, x: object, content = "export const main = (x: unknown) => x") => ({
    id,
    value: { type: "rawscript", language: "bun", content, input_transforms: { x } },
  });
  const fixed = (value: unknown) => ({ type: "static", value });
  const made = (expr: string) => ({ type: "javascript", expr });
  const hide = "export const main = (x: any) => [typeof x, x.length ?? Object.keys(x).length]";
  const stepsOf = async (id: string): Promise<any[]> => {
    const { flow_status } = (await ask("GET", `/w/acme/jobs_u/get/${id}`)).json();
    return Promise.all(
      flow_status.modules.map(async ({ job }: any) => (await ask("GET", `/w/acme/jobs_u/get/${job}`)).json()),
    );
  };

  test("passes references on as text until the step that uses them runs", async () => {
    const modules = [
      step("fixed", fixed({ list: ["$res:u/admin/db"] })),
      step("handed", made("flow_input.db")),
      step("field", made("flow_input.db.host ?? 'a text has no fields'")),
    ];
    const { id, result, args } = await runFlow({ modules }, { db: "$res:u/admin/db" });
    expect([result, args]).toEqual(["a text has no fields", { db: "$res:u/admin/db" }]);
    const [first, second] = await stepsOf(id);
    expect([first.args, first.result]).toEqual([{ x: { list: ["$res:u/admin/db"] } }, { list: [plainDb] }]);
    expect([second.args, second.result]).toEqual([{ x: "$res:u/admin/db" }, plainDb]);
  });

  test("fails at the step with a dangling reference, naming the argument", async () => {
    const { success, result } = await runFlow({ modules: [step("a", fixed({ y: "$var:u/admin/nope" }))] });
    expect(success).toBe(false);
    expect(result.error.message).toContain("argument x.y: $var:u/admin/nope");
  });

  test("encrypts results of expressions with secrets, and steps receive plain text", async () => {
    const modules = [
      step(
        "made",
        made("({ header: 'Bearer ' + variable('u/admin/secret'), db: resource('u/admin/db') })"),
        hide,
      ),
      {
        id: "loop",
        value: {
          type: "forloopflow",
          iterator: made("[variable('u/admin/secret') + '-1']"),
          skip_failures: false,
          modules: [step("inner", made("flow_input.iter.value"), hide)],
        },
      },
    ];
    const { id, success, result } = await runFlow({ modules });
    expect([success, result]).toEqual([true, [["string", SECRET.length + 2]]]);
    const [first] = await stepsOf(id);
    expect(first.args.x.header).toStartWith("$encrypted:");
    expect(first.args.x.db).toMatchObject({
      host: "db.example.org",
      password: expect.stringMatching(/^\$encrypted:/),
    });
  });

  test("encrypts them for its own runner only", async () => {
    const modules = [step("a", made("variable('u/admin/secret')"), hide)];
    const [job] = await stepsOf((await runFlow({ modules })).id);
    const again = await run("u/admin/echo", { x: job.args.x });
    expect(again.result).toBe(SECRET);
    const stolen = await run("u/dev/echo", { x: job.args.x }, dev);
    expect(stolen.result.error.message).toContain("not encrypted by this service for dev@example.org");
  });
});
