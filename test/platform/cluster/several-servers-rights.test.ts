/**
 * Cached users and rights of servers on one PostgreSQL: a change on one server soon invalidates those of the
 * others.
 */
import { beforeAll, describe, setDefaultTimeout } from "bun:test";
import { type Ask, deploy, expectOk } from "../../support/harness.ts";
import { license } from "../../support/peers/license.ts";
import {
  ask,
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

describe.skipIf(!process.env.DATABASE_URL)("a change of rights on one server reaches the other", () => {
  setUpMemory();

  let eveAtBack: Ask;
  beforeAll(async () => {
    const eve = await both.front.member("acme", "eve");
    eveAtBack = both.back.as(eve.token);
  });

  let pid: number | undefined;
  let boss: Ask;
  let goneAtBack: Ask;

  const cases: Case[] = [
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
      look: () => eveAtBack("GET", `${WORKSPACE}/users/whoami`).then((answer) => answer.json().operator),
      before: false,
      change: () => expectOk(ask("POST", `${WORKSPACE}/users/update/eve`, { operator: true })),
      after: true,
    },
    {
      name: "who is an operator no more",
      make: async () => {},
      look: () => eveAtBack("GET", `${WORKSPACE}/users/whoami`).then((answer) => answer.json().operator),
      before: true,
      change: () => expectOk(ask("POST", `${WORKSPACE}/users/update/eve`, { operator: false })),
      after: false,
    },
    {
      name: "who may read a folder",
      make: async () => {
        await expectOk(ask("POST", `${WORKSPACE}/folders/create`, { name: "data" }));
        const value = { path: "f/data/v", value: "v", is_secret: false, description: "" };
        await expectOk(ask("POST", `${WORKSPACE}/variables/create`, value));
      },
      look: () => status(eveAtBack, "GET", `${WORKSPACE}/variables/get/f/data/v`)(),
      before: 404,
      change: () =>
        expectOk(
          ask("POST", `${WORKSPACE}/folders/update/data`, {
            extra_perms: { "u/eve": false, "u/admin": true },
          }),
        ),
      after: 200,
    },
    {
      name: "who is in a group",
      make: async () => {
        await expectOk(ask("POST", `${WORKSPACE}/groups/create`, { name: "team", summary: "" }));
        await expectOk(
          ask("POST", `${WORKSPACE}/folders/create`, { name: "team", extra_perms: { "g/team": false } }),
        );
        const value = { path: "f/team/v", value: "v", is_secret: false, description: "" };
        await expectOk(ask("POST", `${WORKSPACE}/variables/create`, value));
      },
      look: () => status(eveAtBack, "GET", `${WORKSPACE}/variables/get/f/team/v`)(),
      before: 404,
      change: () => expectOk(ask("POST", `${WORKSPACE}/groups/adduser/team`, { username: "eve" })),
      after: 200,
    },
    {
      name: "who was in a group",
      make: async () => {},
      look: () => status(eveAtBack, "GET", `${WORKSPACE}/variables/get/f/team/v`)(),
      before: 200,
      change: () => expectOk(ask("POST", `${WORKSPACE}/groups/removeuser/team`, { username: "eve" })),
      after: 404,
    },
    {
      name: "what somebody may see by an entry of the item's own",
      make: () => deploy(ask, "acme", "u/admin/shared", "export const main = () => 1"),
      look: () => status(eveAtBack, "POST", `${WORKSPACE}/jobs/run_wait_result/p/u/admin/shared`, {})(),
      before: 404,
      change: () =>
        expectOk(
          ask("POST", `${WORKSPACE}/acls/add/script/u/admin/shared`, { owner: "u/eve", write: false }),
        ),
      after: 200,
    },
    {
      name: "a session of somebody who is taken out by a new list of all users",
      make: async () => {
        await license(both.front);
        const gone = await both.front.user("gone");
        // Only cached at the back: the server that receives the list has never seen the token.
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
      name: "processes that are warm for who is gone",
      make: async () => {
        const { token } = await both.front.member("acme", "ghost");
        await deploy(ask, "acme", "u/admin/pid", "export const main = () => process.pid");
        await expectOk(
          ask("POST", `${WORKSPACE}/acls/add/script/u/admin/pid`, { owner: "u/ghost", write: false }),
        );
        const ran = await expectOk(
          both.back.as(token)("POST", `${WORKSPACE}/jobs/run_wait_result/p/u/admin/pid`, {}),
        );
        pid = Number(ran.text);
      },
      look: async () => isAlive(pid!),
      before: true,
      change: () => expectOk(ask("DELETE", `${WORKSPACE}/users/delete/ghost`)),
      after: false,
    },
  ];
  testCases(cases);
});
