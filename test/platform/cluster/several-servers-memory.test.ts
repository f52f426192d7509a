/** What servers of one PostgreSQL keep in memory: what one changes, the other has forgotten soon after. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { workerTags } from "../../../src/platform/cluster/group-tags.ts";
import { type Ask, deploy, expectOk, until } from "../../support/harness.ts";
import { license } from "../../support/peers/license.ts";
import { rootOf, soon, startTwoServers, type TwoServers } from "../../support/two-servers.ts";

setDefaultTimeout(60_000);

describe.skipIf(!process.env.DATABASE_URL)("a change on one server invalidates the other's cache", () => {
  let both: TwoServers;
  let root: Awaited<ReturnType<typeof rootOf>>;
  let ask: Ask;
  let back: Ask;
  let eve: { token: string; ask: Ask };
  let eveAtBack: Ask;
  const w = "/w/acme";

  beforeAll(async () => {
    both = await startTwoServers({ allowed_targets: "127.0.0.1" });
    root = await rootOf(both);
    await expectOk(root.ask("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    ask = both.admin.ask;
    back = both.atBack;
    eve = await both.front.member("acme", "eve");
    eveAtBack = both.back.as(eve.token);
  });
  afterAll(() => both?.stop());

  const flow = (path: string, expr: string) => ({
    path,
    summary: "",
    value: { modules: [{ id: "a", value: { type: "identity", input_transforms: {} } }], expr },
  });
  const codeOf = (value: unknown) => ({
    modules: [
      {
        id: "a",
        value: {
          type: "rawscript",
          language: "bun",
          content: `export const main = () => ${JSON.stringify(value)}`,
          input_transforms: {},
        },
      },
    ],
  });
  const status = (asked: Ask, method: string, path: string, body?: unknown) => async () =>
    (await asked(method, path, body)).status;
  const result = (path: string) => async () =>
    (await back("POST", `${w}/jobs/run_wait_result/${path}`, {})).text;

  interface Case {
    name: string;
    /** Makes what is remembered. */
    make: () => Promise<unknown>;
    /** What the other server answers. */
    look: () => Promise<unknown>;
    before: unknown;
    change: () => Promise<unknown>;
    after: unknown;
  }

  const cases: Case[] = [
    {
      name: "a script that is archived",
      make: () => deploy(ask, "acme", "u/admin/archived", "export const main = () => 1"),
      look: () => status(back, "POST", `${w}/jobs/run_wait_result/p/u/admin/archived`, {})(),
      before: 200,
      change: () => expectOk(ask("POST", `${w}/scripts/archive/p/u/admin/archived`)),
      after: 400,
    },
    {
      name: "a version of a script that is called by its hash, and archived",
      make: async () => {
        hash = await deploy(ask, "acme", "u/admin/by_hash", "export const main = () => 1");
      },
      look: () => status(back, "POST", `${w}/jobs/run_wait_result/h/${hash}`, {})(),
      before: 200,
      change: () => expectOk(ask("POST", `${w}/scripts/archive/h/${hash}`)),
      after: 400,
    },
    {
      name: "an older version of a flow",
      make: () => expectOk(ask("POST", `${w}/flows/create`, { ...flow("u/admin/f", ""), value: codeOf(1) })),
      look: () => result("f/u/admin/f")(),
      before: "1",
      change: () =>
        expectOk(ask("POST", `${w}/flows/update/u/admin/f`, { ...flow("u/admin/f", ""), value: codeOf(2) })),
      after: "2",
    },
    {
      name: "a flow that is archived",
      make: async () => {},
      look: () => status(back, "POST", `${w}/jobs/run_wait_result/f/u/admin/f`, {})(),
      before: 200,
      change: () => expectOk(ask("POST", `${w}/flows/archive/u/admin/f`, { archived: true })),
      after: 400,
    },
    {
      name: "who is not a super admin any more",
      make: () =>
        both.front.user("boss", { super_admin: true }).then((user) => (boss = both.back.as(user.token))),
      look: () => status(boss, "GET", "/settings/list_global")(),
      before: 200,
      change: () => expectOk(root.ask("POST", "/users/update/boss@example.org", { is_super_admin: false })),
      after: 403,
    },
    {
      name: "who has become an operator",
      make: async () => {},
      look: () => eveAtBack("GET", `${w}/users/whoami`).then((answer) => answer.json().operator),
      before: false,
      change: () => expectOk(ask("POST", `${w}/users/update/eve`, { operator: true })),
      after: true,
    },
    {
      name: "who is an operator no more",
      make: async () => {},
      look: () => eveAtBack("GET", `${w}/users/whoami`).then((answer) => answer.json().operator),
      before: true,
      change: () => expectOk(ask("POST", `${w}/users/update/eve`, { operator: false })),
      after: false,
    },
    {
      name: "who may read a folder",
      make: async () => {
        await expectOk(ask("POST", `${w}/folders/create`, { name: "data" }));
        const value = { path: "f/data/v", value: "v", is_secret: false, description: "" };
        await expectOk(ask("POST", `${w}/variables/create`, value));
      },
      look: () => status(eveAtBack, "GET", `${w}/variables/get/f/data/v`)(),
      before: 404,
      change: () =>
        expectOk(
          ask("POST", `${w}/folders/update/data`, { extra_perms: { "u/eve": false, "u/admin": true } }),
        ),
      after: 200,
    },
    {
      name: "who is in a group",
      make: async () => {
        await expectOk(ask("POST", `${w}/groups/create`, { name: "team", summary: "" }));
        await expectOk(
          ask("POST", `${w}/folders/create`, { name: "team", extra_perms: { "g/team": false } }),
        );
        const value = { path: "f/team/v", value: "v", is_secret: false, description: "" };
        await expectOk(ask("POST", `${w}/variables/create`, value));
      },
      look: () => status(eveAtBack, "GET", `${w}/variables/get/f/team/v`)(),
      before: 404,
      change: () => expectOk(ask("POST", `${w}/groups/adduser/team`, { username: "eve" })),
      after: 200,
    },
    {
      name: "who was in a group",
      make: async () => {},
      look: () => status(eveAtBack, "GET", `${w}/variables/get/f/team/v`)(),
      before: 200,
      change: () => expectOk(ask("POST", `${w}/groups/removeuser/team`, { username: "eve" })),
      after: 404,
    },
    {
      name: "what somebody may see by an entry of the item's own",
      make: () => deploy(ask, "acme", "u/admin/shared", "export const main = () => 1"),
      look: () => status(eveAtBack, "POST", `${w}/jobs/run_wait_result/p/u/admin/shared`, {})(),
      before: 404,
      change: () =>
        expectOk(ask("POST", `${w}/acls/add/script/u/admin/shared`, { owner: "u/eve", write: false })),
      after: 200,
    },
    {
      name: "a route",
      make: async () => {},
      look: () => status(back, "GET", "/r/told")(),
      before: 404,
      change: async () => {
        await deploy(ask, "acme", "u/admin/answer", "export const main = () => 1");
        const route = {
          path: "u/admin/told",
          route_path: "told",
          http_method: "get",
          script_path: "u/admin/answer",
          is_flow: false,
          authentication_method: "none",
          request_type: "sync",
          is_static_website: false,
        };
        await expectOk(ask("POST", `${w}/http_triggers/create`, route));
      },
      after: 200,
    },
    {
      name: "a route that is switched off",
      make: async () => {},
      look: () => status(back, "GET", "/r/told")(),
      before: 200,
      change: () => expectOk(ask("POST", `${w}/http_triggers/setenabled/u/admin/told`, { enabled: false })),
      after: 404,
    },
    {
      name: "a session of somebody who is taken out by a new list of all users",
      make: async () => {
        await license(both.front);
        const gone = await both.front.user("gone");
        // Known at the back alone: the server that takes the list has never seen the token.
        goneAtBack = both.back.as(gone.token);
      },
      look: () => status(goneAtBack, "GET", "/users/whoami")(),
      before: 200,
      change: async () => {
        const all = (await expectOk(root.ask("GET", "/users/export"))).json();
        const kept = all.filter(({ email }: { email: string }) => email !== "gone@example.org");
        await expectOk(root.ask("POST", "/users/overwrite", kept));
      },
      after: 401,
    },
    {
      name: "a setting of the instance",
      make: async () => {},
      look: () => back("GET", "/workers/custom_tags").then((answer) => answer.json()),
      before: [],
      change: () => expectOk(root.ask("POST", "/settings/global/custom_tags", { value: ["gpu"] })),
      after: ["gpu"],
    },
    {
      name: "the key of a workspace",
      make: () =>
        expectOk(
          ask("POST", `${w}/variables/create`, {
            path: "u/admin/s",
            value: "hidden",
            is_secret: true,
            description: "",
          }),
        ),
      look: async () => [
        (await back("GET", `${w}/workspaces/encryption_key`)).json().key === "k".repeat(64),
        (await back("GET", `${w}/variables/get_value/u/admin/s`)).text,
      ],
      before: [false, '"hidden"'],
      change: () => expectOk(ask("POST", `${w}/workspaces/encryption_key`, { new_key: "k".repeat(64) })),
      after: [true, '"hidden"'],
    },
    {
      name: "a workspace that is archived",
      make: () => both.front.workspace("shut").then(({ token }) => (keeper = both.back.as(token))),
      look: () => status(keeper, "GET", "/w/shut/variables/list")(),
      before: 200,
      change: () => expectOk(root.ask("POST", "/w/shut/workspaces/archive")),
      after: 400,
    },
    {
      name: "a workspace that is so no more",
      make: async () => {},
      look: () => status(keeper, "GET", "/w/shut/variables/list")(),
      before: 400,
      change: () => expectOk(root.ask("POST", "/workspaces/unarchive/shut")),
      after: 200,
    },
    {
      name: "the id that a workspace had",
      make: async () => {},
      look: async () => [await isThere("shut"), await isThere("open")],
      before: [true, false],
      change: () => expectOk(root.ask("POST", "/w/shut/workspaces/change_workspace_id", { new_id: "open" })),
      after: [false, true],
    },
    {
      name: "a workspace that is deleted",
      make: async () => {},
      look: () => isThere("open"),
      before: true,
      change: () => expectOk(root.ask("DELETE", "/workspaces/delete/open")),
      after: false,
    },
    {
      name: "what a group of workers takes",
      make: async () => {},
      look: async () => workerTags(both.back.server.app) ?? "all",
      before: "all",
      change: () =>
        expectOk(root.ask("POST", "/configs/update/worker__default", { worker_tags: ["bun", "flow"] })),
      after: ["bun", "flow"],
    },
    {
      name: "that it takes it",
      make: async () => {},
      look: async () => workerTags(both.back.server.app) ?? "all",
      before: ["bun", "flow"],
      change: () => expectOk(root.ask("DELETE", "/configs/update/worker__default")),
      after: "all",
    },
    {
      name: "processes that are warm for a script that is archived",
      make: async () => {
        await deploy(ask, "acme", "u/admin/warm", "export const main = () => process.pid");
        pid = Number(await result("p/u/admin/warm")());
      },
      look: async () => isAlive(pid!),
      before: true,
      change: () => expectOk(ask("POST", `${w}/scripts/archive/p/u/admin/warm`)),
      after: false,
    },
    {
      name: "processes that are warm for who is gone",
      make: async () => {
        const { token } = await both.front.member("acme", "ghost");
        await deploy(ask, "acme", "u/admin/pid", "export const main = () => process.pid");
        await expectOk(ask("POST", `${w}/acls/add/script/u/admin/pid`, { owner: "u/ghost", write: false }));
        const ran = await expectOk(
          both.back.as(token)("POST", `${w}/jobs/run_wait_result/p/u/admin/pid`, {}),
        );
        pid = Number(ran.text);
      },
      look: async () => isAlive(pid!),
      before: true,
      change: () => expectOk(ask("DELETE", `${w}/users/delete/ghost`)),
      after: false,
    },
  ];
  const isThere = async (id: string) => (await keeper("GET", `/w/${id}/variables/list`)).status === 200;
  const isAlive = (process_id: number) => {
    try {
      process.kill(process_id, 0);
      return true;
    } catch {
      return false;
    }
  };
  let pid: number | undefined;
  let hash: string;
  let boss: Ask;
  let keeper: Ask;
  let goneAtBack: Ask;

  test.each(cases.map((each) => [each.name, each] as const))(
    "%s",
    async (_, { make, look, before, change, after }) => {
      await make();
      // Asked twice: from now on it is answered from memory.
      await look();
      expect(await soon(look, before)).toEqual(before);
      await change();
      expect(await soon(look, after)).toEqual(after);
    },
  );

  test("an error handler set on another server is started for the next failure", async () => {
    await deploy(ask, "acme", "u/admin/fails", "export const main = () => { throw new Error('no') }");
    await deploy(ask, "acme", "u/admin/hears", "export const main = (path: string) => path");
    const fail = () => back("POST", `${w}/jobs/run_wait_result/p/u/admin/fails`, {});
    // That there is none is known here from now on.
    await fail();
    const handler = { error_handler: "script/u/admin/hears", error_handler_extra_args: {} };
    await expectOk(ask("POST", `${w}/workspaces/edit_error_handler`, handler));
    await fail();
    const heard = await until(async () => {
      const listed = (await ask("GET", `${w}/jobs/completed/list?script_path_exact=u/admin/hears`)).json();
      return listed.length > 0 ? listed : undefined;
    }, "the handler's job");
    expect(heard).toHaveLength(1);
  });

  test("an endpoint created on another server gets the next event, and none after its deletion", async () => {
    const seen: string[] = [];
    using receiver = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        seen.push(await request.text());
        return new Response("");
      },
    });
    const store = (path: string) =>
      expectOk(back("POST", `${w}/variables/create`, { path, value: "", is_secret: false, description: "" }));
    await store("u/admin/e1");
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { id } = (await expectOk(ask("POST", `${w}/webhooks/create`, { url }))).json();
    await store("u/admin/e2");
    await until(() => (seen.length > 0 ? true : undefined), "the event");
    await expectOk(ask("DELETE", `${w}/webhooks/delete/${id}`));
    await store("u/admin/e3");
    const about = (path: string) => seen.filter((body) => body.includes(path)).length;
    expect([about("u/admin/e1"), about("u/admin/e2"), about("u/admin/e3")]).toEqual([0, 1, 0]);
  });
});
