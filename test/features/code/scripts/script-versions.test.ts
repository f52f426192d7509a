/** Drafts of scripts, version history, searchable lists, and deletion. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  getCachedScriptByPath,
  getDeployedScriptByHash,
} from "../../../../src/features/code/scripts/versions.ts";
import {
  type Answer,
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let ann: Ask;
let annsToken: string;
let bob: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: admin } = await server.workspace());
  ({ ask: ann, token: annsToken } = await server.member("acme", "ann"));
  ({ ask: bob } = await server.member("acme", "bob"));
});
afterAll(() => server.stop());

const at = (rest: string) => `/w/acme/scripts/${rest}`;
const saying = (text: string) => `export const main = () => ${JSON.stringify(text)}`;
const make = (path: string, text = path, more: object = {}) => deploy(ann, "acme", path, saying(text), more);
const read = async (rest: string, ask = ann) => (await expectOk(ask("GET", at(rest)))).json();
const told = (answer: Answer) => [answer.status, answer.headers.get("svc-error")];
const run = (path: string) => ann("POST", `/w/acme/jobs/run_wait_result/${path}`, {});

describe("a draft beside a script", () => {
  const save = (path: string, value: unknown) =>
    expectOk(ann("POST", "/w/acme/drafts/create", { path, typ: "script", value }));

  test("is returned with it, marked in lists, and removed by the next deployment", async () => {
    const parent_hash = await make("u/ann/drafted");
    expect((await read("get/draft/u/ann/drafted")).draft).toBeUndefined();
    await save("u/ann/drafted", { content: "half" });
    const whole = await read("get/draft/u/ann/drafted");
    expect([whole.hash, whole.draft]).toEqual([parent_hash, { content: "half" }]);
    const listed = async () => (await read("list?path_exact=u/ann/drafted"))[0].has_draft;
    expect(await listed()).toBe(true);
    await make("u/ann/drafted", "again", { parent_hash });
    expect((await read("get/draft/u/ann/drafted")).draft).toBeUndefined();
    expect(await listed()).toBe(false);
  });
});

describe("a script that is only a draft", () => {
  const body = { path: "u/ann/only", content: "export const main = (", language: "bun", draft_only: true };

  test("is stored unchecked, listed on request, cannot run, and is replaced by a deployment", async () => {
    const hash = (await expectOk(ann("POST", at("create"), body))).text;
    expect((await read("get/p/u/ann/only")).draft_only).toBe(true);
    const paths = async (query: string) => (await read(`list?${query}`)).map(({ path }: any) => path);
    expect(await paths("")).not.toContain("u/ann/only");
    expect(await paths("include_draft_only=true")).toContain("u/ann/only");
    expect(await read("list_paths")).not.toContain("u/ann/only");
    for (const target of ["p/u/ann/only", `h/${hash}`]) {
      const answer = await run(target);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("never deployed")]);
    }
    await make("u/ann/only", "deployed");
    expect(await read("history/p/u/ann/only")).toHaveLength(1);
    expect((await run("p/u/ann/only")).json()).toBe("deployed");
  });

  test("never replaces a deployed one", async () => {
    await make("u/ann/standing");
    const answer = await ann("POST", at("create"), { ...body, path: "u/ann/standing" });
    expect(told(answer)).toEqual([400, "BadRequest"]);
  });

  test("is deleted by users who manage it", async () => {
    await expectOk(ann("POST", at("create"), { ...body, path: "u/ann/given_up" }));
    await expectOk(ann("POST", at("delete/p/u/ann/given_up"), undefined));
    expect((await ann("GET", at("get/p/u/ann/given_up"))).status).toBe(404);
  });
});

describe("a new script at the path of an archived one", () => {
  const begin = (ask: Ask, path: string) =>
    expectOk(ask("POST", at("create"), { path, content: "draft", language: "bun", draft_only: true }));

  test("keeps its history and others' drafts when that is discarded", async () => {
    await expectOk(ann("POST", "/w/acme/folders/create", { name: "both", extra_perms: { "u/bob": true } }));
    const path = "f/both/archived";
    const hash = await make(path);
    await expectOk(ann("POST", at(`archive/p/${path}`)));
    await begin(bob, path);
    for (const ask of [ann, bob]) {
      await expectOk(ask("POST", "/w/acme/drafts/create", { path, typ: "script", value: { content: "" } }));
    }
    await expectOk(bob("POST", at(`delete/p/${path}`)));
    expect(await read(`get/p/${path}`)).toMatchObject({ hash, archived: true, draft_only: false });
    expect((await read(`history/p/${path}`)).map((row: any) => row.script_hash)).toEqual([hash]);
    const kept = await read(`get/draft/${path}`, bob);
    expect([kept.draft, kept.other_drafts.map((row: any) => row.created_by)]).toEqual([undefined, ["ann"]]);
    expect(told(await bob("POST", at(`delete/p/${path}`)))).toEqual([403, "Forbidden"]);
  });

  test("is not deleted by its author if somebody deploys it meanwhile", async () => {
    const path = "f/both/begun";
    await begin(bob, path);
    const { app } = server.server;
    const body = { path, content: saying("deployed"), language: "bun" };
    const answers: Promise<Answer>[] = [];
    // Both requests have read their data before either may write, and the deployment writes first.
    await app.db.write(async () => {
      for (const request of [
        () => ann("POST", at("create"), body),
        () => bob("POST", at(`delete/p/${path}`)),
      ]) {
        answers.push(request());
        for (let times = 0; times < 20; times++) await read("exists/p/u/ann/none");
      }
    });
    const [deployed, deleted] = await Promise.all(answers);
    expect([told(deployed!), told(deleted!)]).toEqual([
      [201, null],
      [403, "Forbidden"],
    ]);
    expect((await run(`p/${path}`)).json()).toBe("deployed");
  });
});

describe("versions", () => {
  test("return the newest, and accept a message for each later", async () => {
    const path = "u/ann/versions";
    const first = await make(path, "1");
    const second = await make(path, "2", { parent_hash: first, deployment_message: "two" });
    expect(await read(`get_latest_version/${path}`)).toEqual({ script_hash: second, deployment_msg: "two" });
    const say = (ask: Ask, hash: string, where = path) =>
      ask("POST", at(`history_update/h/${hash}/p/${where}`), { deployment_msg: "one" });
    await expectOk(say(ann, first));
    expect((await read(`history/p/${path}`)).map((each: any) => each.deployment_msg)).toEqual(["two", "one"]);
    expect(told(await say(ann, first, "u/ann/other"))).toEqual([404, "NotFound"]);
    expect(told(await say(bob, first))).toEqual([404, "NotFound"]);
  });

  test("for searching contain the newest sources that the caller may read", async () => {
    const path = "u/ann/searched";
    await make(path, "new", { parent_hash: await make(path, "old") });
    const found = async (ask: Ask) =>
      (await read("list_search", ask)).filter((each: any) => each.path === path);
    expect(await found(ann)).toEqual([{ path, content: saying("new") }]);
    expect(await found(bob)).toEqual([]);
    expect(await read("list_paths")).toContain(path);
    expect(await read("list_paths", bob)).not.toContain(path);
  });
});

describe("sources", () => {
  test("are returned without the versions in imports", async () => {
    const content = 'import x from "is-number@7.0.0"\nexport const main = () => x(1)';
    const script = { path: "u/ann/pinned", content, language: "bun", draft_only: true };
    await expectOk(ann("POST", at("create"), script));
    const answer = await expectOk(ann("GET", at("raw_unpinned/p/u/ann/pinned.ts")));
    expect(answer.text).toBe(content.replace("@7.0.0", ""));
  });

  test.each([
    ["its owner's", () => annsToken, 200],
    ["a wrong one", () => "x".repeat(32), 401],
    ["another's", async () => (await server.member("acme", "eve")).token, 404],
    ["somebody's from outside", async () => (await server.user("outside")).token, 401],
    ["one for something else", () => scoped(["scripts:read:u/ann/other"]), 403],
    ["one for it", () => scoped(["scripts:read:u/ann/loaded"]), 200],
  ])("are returned for a token in the URL: %s", async (_, token, status) => {
    if ((await ann("GET", at("exists/p/u/ann/loaded"))).text === "false") await make("u/ann/loaded");
    const url = `/scripts_u/tokened_raw/acme/${await token()}/u/ann/loaded.ts`;
    const answer = await server.as(undefined)("GET", url);
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.text).toBe(saying("u/ann/loaded"));
  });

  const scoped = async (scopes: string[]) =>
    (await expectOk(ann("POST", "/users/tokens/create", { scopes }))).text;
});

describe("deleting", () => {
  test("a path is for admins, and deletes all versions", async () => {
    const path = "u/ann/deleted";
    const hash = await make(path, "1");
    await make(path, "2", { parent_hash: hash });
    expect((await run(`p/${path}`)).json()).toBe("2");
    expect(told(await ann("POST", at(`delete/p/${path}`)))).toEqual([403, "Forbidden"]);
    expect(told(await bob("POST", at(`delete/p/${path}`)))).toEqual([404, "NotFound"]);
    expect((await expectOk(admin("POST", at(`delete/p/${path}`)))).json()).toBe(path);
    for (const target of [`p/${path}`, `h/${hash}`]) expect((await run(target)).status).toBe(404);
    expect((await ann("GET", at(`history/p/${path}`))).status).toBe(404);
    expect(await make(path, "1")).toBe(hash);
  });

  test("a version deletes its content, and the same content can be deployed again", async () => {
    const path = "u/ann/wiped";
    const first = await make(path, "1");
    const second = await make(path, "2", { parent_hash: first });
    expect(told(await ann("POST", at(`delete/h/${second}`)))).toEqual([403, "Forbidden"]);
    const wiped = (await expectOk(admin("POST", at(`delete/h/${second}`)))).json();
    expect([wiped.hash, wiped.content, wiped.deleted, wiped.archived]).toEqual([second, "", true, true]);
    expect((await run(`h/${second}`)).status).toBe(404);
    expect((await run(`p/${path}`)).json()).toBe("1");
    expect(await make(path, "2", { parent_hash: first })).toBe(second);
    expect((await run(`p/${path}`)).json()).toBe("2");
  });

  test("sends DeleteScriptPath and DeleteScript events", async () => {
    const { webhookEvents } = await import("../../../../src/features/signals/webhooks/tables.ts");
    const { asc, like } = await import("drizzle-orm");
    const url = "https://example.org/told";
    await expectOk(admin("POST", "/w/acme/workspaces/edit_webhook", { webhook: url }));
    const hash = await make("u/ann/told");
    await make("u/ann/told", "2", { parent_hash: hash });
    await expectOk(admin("POST", at(`delete/h/${hash}`)));
    await expectOk(admin("POST", at("delete/p/u/ann/told")));
    const rows = await server.server.app.db.read
      .select()
      .from(webhookEvents)
      .where(like(webhookEvents.type, "DeleteScript%"))
      .orderBy(asc(webhookEvents.seq));
    expect(rows.slice(-2).map(({ type }) => type)).toEqual(["DeleteScript", "DeleteScriptPath"]);
    await expectOk(admin("POST", "/w/acme/workspaces/edit_webhook", {}));
  });
});

test("a deployed script is looked up before its first call", async () => {
  const { app } = server.server;
  const hash = await make("u/ann/looked_up");
  await until(
    async () => getCachedScriptByPath(app, "acme", "u/ann/looked_up"),
    "the script to be looked up",
  );
  expect(getDeployedScriptByHash(app, "acme", hash)).not.toBeInstanceOf(Promise);
});
