/** Caches of servers on one PostgreSQL: a change on one server soon invalidates those of the others. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { getWorkerTags } from "../../../src/platform/cluster/group-tags.ts";
import { type Ask, deploy, expectOk, until } from "../../support/harness.ts";
import {
  ask,
  back,
  both,
  type Case,
  isAlive,
  root,
  setUpMemory,
  status,
  testCases,
  WORKSPACE,
} from "./memory-setup.ts";

setDefaultTimeout(60_000);

describe.skipIf(!process.env.DATABASE_URL)("a change on one server invalidates the other's cache", () => {
  setUpMemory();

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
  const result = (path: string) => async () =>
    (await back("POST", `${WORKSPACE}/jobs/run_wait_result/${path}`, {})).text;

  const isThere = async (id: string) => (await keeper("GET", `/w/${id}/variables/list`)).status === 200;
  let pid: number | undefined;
  let hash: string;
  let keeper: Ask;

  const cases: Case[] = [
    {
      name: "a script that is archived",
      make: () => deploy(ask, "acme", "u/admin/archived", "export const main = () => 1"),
      look: () => status(back, "POST", `${WORKSPACE}/jobs/run_wait_result/p/u/admin/archived`, {})(),
      before: 200,
      change: () => expectOk(ask("POST", `${WORKSPACE}/scripts/archive/p/u/admin/archived`)),
      after: 400,
    },
    {
      name: "a version of a script that is called by its hash, and archived",
      make: async () => {
        hash = await deploy(ask, "acme", "u/admin/by_hash", "export const main = () => 1");
      },
      look: () => status(back, "POST", `${WORKSPACE}/jobs/run_wait_result/h/${hash}`, {})(),
      before: 200,
      change: () => expectOk(ask("POST", `${WORKSPACE}/scripts/archive/h/${hash}`)),
      after: 400,
    },
    {
      name: "an older version of a flow",
      make: () =>
        expectOk(ask("POST", `${WORKSPACE}/flows/create`, { ...flow("u/admin/f", ""), value: codeOf(1) })),
      look: () => result("f/u/admin/f")(),
      before: "1",
      change: () =>
        expectOk(
          ask("POST", `${WORKSPACE}/flows/update/u/admin/f`, { ...flow("u/admin/f", ""), value: codeOf(2) }),
        ),
      after: "2",
    },
    {
      name: "a flow that is archived",
      make: async () => {},
      look: () => status(back, "POST", `${WORKSPACE}/jobs/run_wait_result/f/u/admin/f`, {})(),
      before: 200,
      change: () => expectOk(ask("POST", `${WORKSPACE}/flows/archive/u/admin/f`, { archived: true })),
      after: 400,
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
        await expectOk(ask("POST", `${WORKSPACE}/http_triggers/create`, route));
      },
      after: 200,
    },
    {
      name: "a route that is switched off",
      make: async () => {},
      look: () => status(back, "GET", "/r/told")(),
      before: 200,
      change: () =>
        expectOk(ask("POST", `${WORKSPACE}/http_triggers/setenabled/u/admin/told`, { enabled: false })),
      after: 404,
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
          ask("POST", `${WORKSPACE}/variables/create`, {
            path: "u/admin/s",
            value: "hidden",
            is_secret: true,
            description: "",
          }),
        ),
      look: async () => [
        (await back("GET", `${WORKSPACE}/workspaces/encryption_key`)).json().key === "k".repeat(64),
        (await back("GET", `${WORKSPACE}/variables/get_value/u/admin/s`)).text,
      ],
      before: [false, '"hidden"'],
      change: () =>
        expectOk(ask("POST", `${WORKSPACE}/workspaces/encryption_key`, { new_key: "k".repeat(64) })),
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
      look: async () => getWorkerTags(both.back.server.app) ?? "all",
      before: "all",
      change: () =>
        expectOk(root.ask("POST", "/configs/update/worker__default", { worker_tags: ["bun", "flow"] })),
      after: ["bun", "flow"],
    },
    {
      name: "that it takes it",
      make: async () => {},
      look: async () => getWorkerTags(both.back.server.app) ?? "all",
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
      change: () => expectOk(ask("POST", `${WORKSPACE}/scripts/archive/p/u/admin/warm`)),
      after: false,
    },
  ];
  testCases(cases);

  test("an error handler set on another server is started for the next failure", async () => {
    await deploy(ask, "acme", "u/admin/fails", "export const main = () => { throw new Error('no') }");
    await deploy(ask, "acme", "u/admin/hears", "export const main = (path: string) => path");
    const fail = () => back("POST", `${WORKSPACE}/jobs/run_wait_result/p/u/admin/fails`, {});
    // From now on this server has cached that it does not exist.
    await fail();
    const handler = { error_handler: "script/u/admin/hears", error_handler_extra_args: {} };
    await expectOk(ask("POST", `${WORKSPACE}/workspaces/edit_error_handler`, handler));
    await fail();
    const heard = await until(async () => {
      const listed = (
        await ask("GET", `${WORKSPACE}/jobs/completed/list?script_path_exact=u/admin/hears`)
      ).json();
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
      expectOk(
        back("POST", `${WORKSPACE}/variables/create`, { path, value: "", is_secret: false, description: "" }),
      );
    await store("u/admin/e1");
    const url = `http://127.0.0.1:${receiver.port}/`;
    const { id } = (await expectOk(ask("POST", `${WORKSPACE}/webhooks/create`, { url }))).json();
    await store("u/admin/e2");
    await until(() => (seen.length > 0 ? true : undefined), "the event");
    await expectOk(ask("DELETE", `${WORKSPACE}/webhooks/delete/${id}`));
    await store("u/admin/e3");
    const about = (path: string) => seen.filter((body) => body.includes(path)).length;
    expect([about("u/admin/e1"), about("u/admin/e2"), about("u/admin/e3")]).toEqual([0, 1, 0]);
  });
});
