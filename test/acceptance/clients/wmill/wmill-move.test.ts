/**
 * A workspace that was pulled from another server: `wmill sync push` into an empty workspace, where it runs as
 * before.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { isOffline } from "../registry.ts";
import { writeWorkspace } from "../workspace-files.ts";
import { changesIn, installWmill, VERSIONS, type Wmill } from "./wmill.ts";

setDefaultTimeout(90_000);

const ALL = "--yes --plain-secrets --include-schedules --include-triggers --include-groups".split(" ");

/** Triggers of kinds that are stored and not run. */
const STORED: Record<string, string> = {
  "f/data/clicks.kafka_trigger.yaml": `script_path: f/data/hello
is_flow: false
kafka_resource_path: f/data/broker
group_id: ours
topics:
  - clicks
filters: []
enabled: true
retry:
  constant:
    attempts: 2
    seconds: 5
`,
  "f/data/inbox.email_trigger.yaml": `script_path: f/data/whole
is_flow: true
local_part: inbox
workspaced_local_part: true
mode: suspended
`,
};

/** Files of this test, in addition to those that all tests of the client use. */
const MORE: Record<string, string> = {
  "f/data/greet.py": "def main(name: str = 'nobody'):\n    return f'bonjour {name}'\n",
  "f/data/told.ts":
    "export async function main(word: string) {\n  const base = `${process.env.BASE_INTERNAL_URL}/api/w/${process.env.WM_WORKSPACE}`;\n  const headers = { authorization: `Bearer ${process.env.WM_TOKEN}` };\n  const secret = await fetch(`${base}/variables/get_value/f/data/password`, { headers });\n  return { word, length: (await secret.json()).length };\n}\n",
  "f/data/whole.flow/flow.yaml": `summary: All of it
value:
  modules:
    - id: a
      value:
        type: script
        path: f/data/greet
        input_transforms:
          name:
            type: javascript
            expr: flow_input.name
    - id: b
      value:
        type: flow
        path: f/data/twice
        input_transforms:
          x:
            type: javascript
            expr: results.a.length
schema:
  type: object
  properties:
    name:
      type: string
`,
  "f/data/shop.http_trigger.yaml": `script_path: f/data/whole
is_flow: true
route_path: shop/:name
workspaced_route: true
http_method: post
request_type: sync
authentication_method: none
is_static_website: false
`,
  "f/data/feed.websocket_trigger.yaml": `script_path: f/data/hello
is_flow: false
url: ws://localhost:1
enabled: false
filters: []
initial_messages: []
`,
  ...STORED,
  "groups/ops.group.yaml": "summary: Ops\nmembers: []\nadmins:\n  - u/admin\n",
};

describe.skipIf(isOffline).each(VERSIONS)(
  "a folder that wmill %s pushes into an empty workspace",
  (version) => {
    let server: TestServer;
    let ask: Ask;
    let token: string;
    let wmill: Wmill;

    const run = async (path: string, args: object) =>
      (await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/${path}`, args))).json();

    beforeAll(async () => {
      [server, wmill] = await Promise.all([startTestServer(), installWmill(version)]);
      ({ ask, token } = await server.workspace("acme"));
      await server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] });
      const folder = await wmill.folder("brought");
      await writeWorkspace(folder);
      for (const [name, text] of Object.entries(MORE)) await Bun.write(join(folder, name), text);
      await wmill.ok(folder, ["workspace", "add", "acme", "acme", `${server.url}/`, "--token", token]);
      await wmill.ok(folder, ["script", "generate-metadata", "--yes"]);
      await wmill.ok(folder, ["flow", "generate-locks", "--yes"]);
      const said = await wmill.ok(folder, ["sync", "push", ...ALL]);
      expect(changesIn(said)).toBeGreaterThan(15);
      // For languages without packages wmill wrote empty locks, which no server returns.
      await wmill.ok(folder, ["sync", "pull", ...ALL]);
      for (const [name, text] of Object.entries(STORED))
        expect(await Bun.file(join(folder, name)).text()).toBe(text);
      expect(changesIn(await wmill.ok(folder, ["sync", "push", ...ALL]))).toBe(0);
    }, 120_000);
    afterAll(async () => {
      await server.stop();
      await wmill[Symbol.asyncDispose]();
    });

    test("runs its scripts, in each language", async () => {
      expect(await run("p/f/data/hello", { name: "moon" })).toBe("hello moon hello moon");
      expect(await run("p/f/data/odd", { n: 3 })).toBe(true);
      expect(await run("p/f/data/shout", { word: "moon" })).toBe('{"word": "moon"}');
      expect(await run("p/f/data/greet", { name: "lune" })).toBe("bonjour lune");
      expect(await run("p/f/data/told", { word: "a" })).toEqual({ word: "a", length: "hunter2-moon".length });
    });

    test("runs its flows, one within the other", async () => {
      expect(await run("f/f/data/whole", { name: "lune" })).toBe("hello 24 hello 24");
    });

    test("answers its webhook, only for a token that allows it", async () => {
      const scopes = ["jobs:run:flows:f/data/whole"];
      const webhook = (await expectOk(ask("POST", "/users/tokens/create", { scopes, workspace_id: "acme" })))
        .text;
      const url = `${server.url}/api/w/acme/jobs/run_wait_result/f/f/data/whole?token=${webhook}`;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(url, { method: "POST", headers, body: '{"name":"moon"}' });
      expect([answer.status, await answer.json()]).toEqual([200, "hello 24 hello 24"]);
    });

    test("serves its route, and has its schedule, its group and the other items", async () => {
      const answer = await fetch(`${server.url}/api/r/acme/shop/lune`, { method: "POST" });
      expect([answer.status, await answer.json()]).toEqual([200, "hello 24 hello 24"]);
      const get = async (path: string) => (await expectOk(ask("GET", `/w/acme${path}`))).json();
      expect(await get("/schedules/get/f/data/nightly")).toMatchObject({ timezone: "Europe/Paris" });
      expect(await get("/groups/get/ops")).toMatchObject({ summary: "Ops", members: ["admin"] });
      expect(await get("/websocket_triggers/get/f/data/feed")).toMatchObject({ enabled: false });
      expect(await get("/kafka_triggers/get/f/data/clicks")).toMatchObject({
        topics: ["clicks"],
        error: "stored; svc does not run Kafka triggers",
      });
      expect(await get("/email_triggers/get/f/data/inbox")).toMatchObject({ mode: "suspended" });
      expect(await get("/resources/get_value_interpolated/f/data/database")).toEqual({
        host: "example.org",
        port: 5432,
      });
    });
  },
);
