/** The version that a flow's path runs; drafts never run. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  getDeployedFlowByPath,
  getDeployedFlowByVersion,
  getFlowValue,
} from "../../../../src/features/code/flows/versions.ts";
import { createUuid } from "../../../../src/lib/text/ids.ts";
import { insertJob } from "../../../../src/platform/queue/job-store.ts";
import {
  type Answer,
  type Ask,
  expectOk,
  startTestServer,
  type TestServer,
} from "../../../support/harness.ts";

let server: TestServer;
let ann: Ask;
let bob: Ask;
let viewer: Ask;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  ({ ask: ann } = await server.member("acme", "ann"));
  ({ ask: bob } = await server.member("acme", "bob"));
  ({ ask: viewer } = await server.member("acme", "viewer", "operator"));
});
afterAll(() => server.stop());

const stepping = (content: string) => ({
  modules: [{ id: "a", value: { type: "rawscript", language: "bun", content, input_transforms: {} } }],
});
const one = stepping("export const main = () => 1");
const two = stepping("export const main = () => 2");
const contentOf = (flow: any) => flow.value.modules[0].value.content;

const at = (rest: string) => `/w/acme/flows/${rest}`;
const make = (path: string, more: object = {}) =>
  expectOk(ann("POST", at("create"), { path, summary: "", value: one, ...more }));
const change = (path: string, more: object = {}) =>
  ann("POST", at(`update/${path}`), { path, summary: "", value: two, ...more });
const read = async (rest: string) => (await expectOk(ann("GET", at(rest)))).json();
/** Sends two requests: both have read their data before either may write, and the first writes first. */
async function inTurn(...requests: [() => Promise<Answer>, () => Promise<Answer>]): Promise<Answer[]> {
  const { app } = server.server;
  const answers: Promise<Answer>[] = [];
  await app.db.write(async () => {
    for (const request of requests) {
      answers.push(request());
      // Reads are answered meanwhile, in the order of the requests.
      for (let at = 0; at < 20; at++) await ann("GET", "/w/acme/flows/exists/u/ann/none");
    }
  });
  return Promise.all(answers);
}
const told = (answer: Answer) => [answer.status, answer.headers.get("svc-error")];

describe("a draft", () => {
  const save = (path: string, value: unknown, ask = ann) =>
    ask("POST", "/w/acme/drafts/create", { path, typ: "flow", value });

  test("is stored beside a flow, replaced, deleted, and removed by the next deployment", async () => {
    await make("u/ann/drafted");
    expect((await read("get/draft/u/ann/drafted")).draft).toBeUndefined();
    expect((await save("u/ann/drafted", { half: "made" })).status).toBe(201);
    expect((await save("u/ann/drafted", { half: "done" })).status).toBe(201);
    const whole = await read("get/draft/u/ann/drafted");
    expect([whole.draft, contentOf(whole)]).toEqual([{ half: "done" }, contentOf({ value: one })]);
    const remove = () => ann("DELETE", "/w/acme/drafts/delete/flow/u/ann/drafted");
    expect((await remove()).status).toBe(200);
    expect(told(await remove())).toEqual([404, "NotFound"]);
    await expectOk(save("u/ann/drafted", 1));
    await expectOk(change("u/ann/drafted"));
    expect((await read("get/draft/u/ann/drafted")).draft).toBeUndefined();
  });

  test("belongs to a user: others have their own, see who has one, and keep theirs after a deployment", async () => {
    const grant = { owner: "u/bob", write: true };
    await make("u/ann/both");
    await expectOk(ann("POST", "/w/acme/acls/add/flow/u/ann/both", grant));
    const withDraft = async (ask: Ask, rest = "") =>
      (await expectOk(ask("GET", at(`get/draft/u/ann/both${rest}`)))).json();
    const others = (flow: any) => flow.other_drafts.map(({ created_by }: any) => created_by);
    await expectOk(save("u/ann/both", { by: "ann" }));
    const unbegun = await withDraft(bob);
    expect(["draft" in unbegun, others(unbegun)]).toEqual([false, ["ann"]]);
    await expectOk(save("u/ann/both", { by: "bob" }, bob));
    expect([(await withDraft(ann)).draft, others(await withDraft(ann))]).toEqual([{ by: "ann" }, ["bob"]]);
    expect([(await withDraft(bob)).draft, others(await withDraft(bob))]).toEqual([{ by: "bob" }, ["ann"]]);
    expect((await withDraft(ann, "?draft_of=bob")).draft).toEqual({ by: "bob" });
    const listed = await read("list?path_exact=u/ann/both");
    expect(listed.map(({ has_draft }: any) => has_draft)).toEqual([true]);
    await expectOk(change("u/ann/both", { path: "u/ann/moved" }));
    const moved = async () => (await expectOk(ann("GET", at("get/draft/u/ann/moved")))).json();
    expect(["draft" in (await moved()), others(await moved())]).toEqual([false, ["bob"]]);
    const remove = (of: string) => ann("DELETE", `/w/acme/drafts/delete/flow/u/ann/moved${of}`);
    expect(told(await remove(""))).toEqual([404, "NotFound"]);
    await expectOk(remove("?created_by=bob"));
    expect(others(await moved())).toEqual([]);
    await expectOk(save("u/ann/moved", { by: "ann" }));
    await expectOk(ann("DELETE", at("delete/u/ann/moved")));
    await make("u/ann/moved");
    expect("draft" in (await moved())).toBe(false);
  });

  test("that was saved elsewhere since it was read is not replaced by a save that names its base", async () => {
    await make("u/ann/twice");
    const from = (replaces: string | null, value: unknown) =>
      ann("POST", "/w/acme/drafts/create", { path: "u/ann/twice", typ: "flow", value, replaces });
    const stored = async () => {
      const { draft, draft_revision } = await read("get/draft/u/ann/twice");
      return { draft, draft_revision };
    };
    const first = await expectOk(from(null, "first"));
    const revision = first.headers.get("draft-revision")!;
    expect(await stored()).toEqual({ draft: "first", draft_revision: revision });
    const second = await expectOk(from(revision, "second"));
    for (const stale of [null, revision, "x"]) {
      const refused = await from(stale, "stale");
      expect([...told(refused), refused.text]).toEqual([
        409,
        "Conflict",
        expect.stringContaining("saved elsewhere"),
      ]);
    }
    const newest = second.headers.get("draft-revision")!;
    expect([await stored(), newest > revision]).toEqual([{ draft: "second", draft_revision: newest }, true]);
    await expectOk(save("u/ann/twice", "unchecked"));
    await expectOk(change("u/ann/twice"));
    const late = await from(newest, "late");
    expect([late.status, late.text]).toEqual([
      409,
      expect.stringContaining("discarded or deployed elsewhere"),
    ]);
    await expectOk(from(null, "again"));
  });

  test("without a flow is deleted by the user who created it, also in a folder of others", async () => {
    await expectOk(ann("POST", "/w/acme/folders/create", { name: "shared", extra_perms: { "u/bob": true } }));
    const begin = (ask: Ask, path: string) =>
      expectOk(ask("POST", at("create"), { path, value: one, summary: "", draft_only: true }));
    await begin(ann, "f/shared/of_ann");
    await begin(bob, "f/shared/of_bob");
    expect(told(await bob("DELETE", at("delete/f/shared/of_ann")))).toEqual([403, "Forbidden"]);
    await expectOk(bob("DELETE", at("delete/f/shared/of_bob")));
    await begin(bob, "f/shared/of_bob");
    await make("f/shared/of_bob");
    expect(told(await bob("DELETE", at("delete/f/shared/of_bob")))).toEqual([403, "Forbidden"]);
  });

  test("without a flow, deployed while its author deletes it, is not deleted", async () => {
    await expectOk(ann("POST", "/w/acme/folders/create", { name: "both", extra_perms: { "u/bob": true } }));
    const body = { path: "f/both/begun", summary: "", value: one };
    await expectOk(bob("POST", at("create"), { ...body, draft_only: true }));
    const [deployed, deleted] = await inTurn(
      () => ann("POST", at("create"), body),
      () => bob("DELETE", at("delete/f/both/begun")),
    );
    expect([told(deployed!), told(deleted!)]).toEqual([
      [201, null],
      [403, "Forbidden"],
    ]);
    expect((await read("get/f/both/begun")).draft_only).toBe(false);
  });

  test("does not replace an archived flow, and says how to restore it", async () => {
    await make("u/ann/retired");
    await expectOk(ann("POST", at("archive/u/ann/retired")));
    const body = { path: "u/ann/retired", summary: "", value: two, draft_only: true };
    const begun = await ann("POST", at("create"), body);
    expect([begun.status, begun.text]).toEqual([
      400,
      expect.stringContaining("archived flow at u/ann/retired: restore it (flows/archive"),
    ]);
    await expectOk(ann("POST", at("archive/u/ann/retired"), { archived: false }));
    expect(contentOf(await read("get/u/ann/retired"))).toBe(contentOf({ value: one }));
  });

  test.each([undefined, null])("that is %p is rejected", async (value) => {
    const answer = await save("u/ann/nothing", value);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`value`: is missing")]);
  });

  test("is stored and deleted only by users who may deploy there", async () => {
    await make("u/ann/mine");
    await expectOk(save("u/ann/mine", 1));
    const remove = "/w/acme/drafts/delete/flow/u/ann/mine";
    for (const ask of [bob, viewer]) {
      expect(told(await save("u/ann/mine", 2, ask))).toEqual([403, "Forbidden"]);
      expect(told(await ask("DELETE", remove))).toEqual([403, "Forbidden"]);
    }
    expect(told(await save("mine", 1))).toEqual([400, "BadRequest"]);
    expect(told(await ann("DELETE", "/w/acme/drafts/delete/song/u/ann/mine"))).toEqual([400, "BadRequest"]);
  });

  test("may exist without a flow: not validated, not runnable, and not a version of a later deployment", async () => {
    const unfinished = { modules: [{ id: "a", value: { ...one.modules[0]!.value, content: "" } }] };
    await make("u/ann/idea", { draft_only: true, value: unfinished });
    await expectOk(change("u/ann/idea", { draft_only: true, value: unfinished }));
    expect((await read("get/u/ann/idea")).draft_only).toBe(true);
    await expect(run("u/ann/idea")).rejects.toThrow("flow u/ann/idea is a draft and cannot run");
    await make("u/ann/idea");
    expect((await read("get/u/ann/idea")).draft_only).toBe(false);
    expect(await read("history/p/u/ann/idea")).toHaveLength(1);
    const back = await change("u/ann/idea", { draft_only: true });
    expect([back.status, back.text]).toEqual([400, expect.stringContaining("u/ann/idea is deployed")]);
  });
});

const run = async (path: string) => getDeployedFlowByPath(server.server.app, "acme", path);
const runVersion = async (version: number) => getDeployedFlowByVersion(server.server.app, "acme", version);

test("runs use the last deployed version, not a cached one", async () => {
  await make("u/ann/fresh", { tag: "first", timeout: 5 });
  const first = await run("u/ann/fresh");
  expect(first).toMatchObject({ path: "u/ann/fresh", tag: "first", timeout_s: 5, priority: 0 });
  expect(await run("u/ann/fresh")).toBe(first);
  expect(await runVersion(first.version)).toMatchObject({ version: first.version, tag: "first" });

  await expectOk(change("u/ann/fresh", { priority: 3 }));
  const second = await run("u/ann/fresh");
  expect(second).toMatchObject({ tag: "flow", priority: 3, timeout_s: undefined });
  expect([second.version > first.version, contentOf(second)]).toEqual([true, contentOf({ value: two })]);
  const pinned = await runVersion(first.version);
  expect([pinned.tag, contentOf(pinned)]).toEqual(["flow", contentOf({ value: one })]);

  await expectOk(change("u/ann/fresh", { path: "u/ann/fresher" }));
  await expect(run("u/ann/fresh")).rejects.toThrow("flow u/ann/fresh in workspace acme");
  expect((await runVersion(first.version)).path).toBe("u/ann/fresher");

  await expectOk(ann("POST", at("archive/u/ann/fresher")));
  const archived = "u/ann/fresher in workspace acme is archived";
  await expect(run("u/ann/fresher")).rejects.toThrow(archived);
  await expect(runVersion(first.version)).rejects.toThrow(archived);
  await expectOk(ann("POST", at("archive/u/ann/fresher"), { archived: false }));
  expect((await run("u/ann/fresher")).path).toBe("u/ann/fresher");

  await expectOk(ann("DELETE", at("delete/u/ann/fresher")));
  await expect(run("u/ann/fresher")).rejects.toThrow("flow u/ann/fresher in workspace acme");
  await expect(runVersion(first.version)).rejects.toThrow(`flow version ${first.version}`);
});

test("a started run keeps its steps when the flow is deleted", async () => {
  const { app } = server.server;
  await make("u/ann/leaves");
  const { version_id } = await read("get/u/ann/leaves");
  await expectOk(change("u/ann/leaves"));
  await app.db.write((tx) =>
    insertJob(tx, {
      id: createUuid(),
      workspace_id: "acme",
      kind: "noop",
      state: "queued",
      created_by: "ann",
      permissioned_as: "u/ann",
      email: "ann@example.org",
      created_at: new Date(),
      scheduled_for: new Date("2999-01-01"),
      tag: "flow",
      args: "{}",
      flow_version: version_id,
    }),
  );
  await expectOk(ann("DELETE", at("delete/u/ann/leaves")));
  const value = await getFlowValue(app, "acme", version_id);
  expect(contentOf({ value })).toBe(contentOf({ value: one }));
  expect(await getFlowValue(app, "acme", version_id)).toBe(value);
  expect(told(await ann("GET", at(`get/v/${version_id}`)))).toEqual([404, "NotFound"]);
  await make("u/ann/leaves");
  expect(await read("history/p/u/ann/leaves")).toHaveLength(1);
});
