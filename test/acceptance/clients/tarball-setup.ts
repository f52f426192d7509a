/** A workspace with an item of each kind, and the archives of it that clients download. */
import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";

export let server: TestServer;
export let token: string;
export let ask: Ask;
export let folder: string;

export const ACME = "/w/acme";
const post = (path: string, body: unknown) => expectOk(ask("POST", `${ACME}${path}`, body));
const LONG = `f/data/${"long_".repeat(40)}`;

async function fill(): Promise<void> {
  await post("/folders/create", { name: "data", summary: "Things", extra_perms: { "g/all": false } });
  await deploy(ask, "acme", "f/data/one", "export const main = () => 1");
  await deploy(ask, "acme", "f/data/one", "export const main = () => 'zwölf'", {
    summary: "One",
    description: "of them",
    tag: "deno",
    timeout: 7,
    envs: ["A=b"],
  });
  await deploy(ask, "acme", "f/data/gone", "export const main = () => 1");
  await post("/scripts/archive/p/f/data/gone", {});
  await deploy(ask, "acme", "u/admin/own", "echo 1", { language: "bash" });
  for (const [language, content] of [
    ["nativets", "export const main = () => 1"],
    ["python3", "def main(): return 1"],
    ["postgresql", "SELECT 1"],
    ["mysql", "SELECT 1"],
    ["sqlite", "SELECT 1"],
    ["graphql", "query { a }"],
  ] as const) {
    await post("/scripts/create", { path: `f/data/in_${language}`, content, language });
  }
  const value = { modules: [{ id: "a", value: { type: "identity" } }] };
  await post("/flows/create", { path: "f/data/flow", summary: "Flow", value, priority: 3 });
  const resource = (path: string, resource_type: string, value: unknown) =>
    post("/resources/create", { path, resource_type, value });
  await resource("f/data/thing", "object", { a: 1 });
  await resource("f/data/nothing", "object", null);
  await resource("f/data/noted", "state", 5);
  await resource("f/data/kept", "cache", 5);
  await post("/resources/type/create", { name: "ours", description: "of ours", schema: { type: "object" } });
  const variable = (path: string, value: string, is_secret: boolean, more: object = {}) =>
    post("/variables/create", { path, value, is_secret, description: "", ...more });
  await variable("f/data/plain", "moon", false);
  await variable("f/data/secret", "hunter2-moon", true);
  await variable("f/data/passing", "soon", false, { expires_at: "2999-01-01T00:00:00Z" });
  await variable(LONG, "far", false);
  await post("/apps/create", {
    path: "f/data/app",
    summary: "App",
    value: { grid: [] },
    policy: { execution_mode: "viewer", on_behalf_of: "u/admin", on_behalf_of_email: "x@example.org" },
  });
  const schedule = { schedule: "0 0 3 * * *", timezone: "UTC", script_path: "f/data/one", is_flow: false };
  await post("/schedules/create", { path: "f/data/nightly", ...schedule, args: { a: 1 }, enabled: false });
  const runs = { script_path: "f/data/one", is_flow: false };
  await post("/http_triggers/create", {
    path: "f/data/orders",
    route_path: "orders",
    http_method: "post",
    ...runs,
  });
  await post("/websocket_triggers/create", {
    path: "f/data/feed",
    url: "ws://localhost:1",
    enabled: false,
    ...runs,
  });
  await post("/groups/create", { name: "ops", summary: "Ops" });
  await server.member("acme", "ann");
  await server.member("acme", "op", "operator");
  await post("/groups/adduser/ops", { username: "ann" });
}

/** Returns the files of the archive by name. */
export async function files(
  query: Record<string, string> = {},
  as: string = token,
): Promise<{ status: number; text: string; headers: Headers; names: string[]; read: (name: string) => any }> {
  const answer = await fetch(`${server.url}/api${ACME}/workspaces/tarball?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${as}` },
  });
  const { status, headers } = answer;
  if (status !== 200) return { status, headers, text: await answer.text(), names: [], read: () => undefined };
  const found = new Map<string, string>();
  for (const [name, file] of await new Bun.Archive(await answer.bytes()).files()) {
    found.set(name, await file.text());
  }
  return {
    status,
    headers,
    text: [...found.values()].join("\n"),
    names: [...found.keys()].sort(),
    read: (name) => {
      const text = found.get(name);
      return name.endsWith(".json") && text !== undefined ? JSON.parse(text) : text;
    },
  };
}

export const token_of = async (name: string): Promise<string> =>
  (await server.operator("POST", "/users/tokens/impersonate", { impersonate_email: `${name}@example.org` }))
    .text;

export const ITEMS = [
  "f/data/app.app.json",
  "f/data/flow.flow.json",
  "f/data/folder.meta.json",
  "f/data/in_graphql.gql",
  "f/data/in_graphql.script.json",
  "f/data/in_mysql.my.sql",
  "f/data/in_mysql.script.json",
  "f/data/in_nativets.fetch.ts",
  "f/data/in_nativets.script.json",
  "f/data/in_postgresql.pg.sql",
  "f/data/in_postgresql.script.json",
  "f/data/in_python3.py",
  "f/data/in_python3.script.json",
  "f/data/in_sqlite.script.json",
  "f/data/in_sqlite.sqlite.sql",
  `${LONG}.variable.json`,
  "f/data/nothing.resource.json",
  "f/data/one.script.json",
  "f/data/one.ts",
  "f/data/plain.variable.json",
  "f/data/secret.variable.json",
  "f/data/thing.resource.json",
  "ours.resource-type.json",
  "u/admin/own.script.json",
  "u/admin/own.sh",
].sort();

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpTarballs(): void {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-tarball-"));
    server = await startTestServer();
    ({ ask, token } = await server.workspace());
    await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    await fill();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
}
