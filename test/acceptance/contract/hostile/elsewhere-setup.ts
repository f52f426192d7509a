/** A server whose workspace receives files and forms made on other servers. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let ann: Ask;
export let token: string;

export const ACME = "/w/acme";

export const post = (path: string, body: unknown) => expectOk(ask("POST", `${ACME}${path}`, body));
export const get = async (path: string) => (await expectOk(ask("GET", `${ACME}${path}`))).json();

/** A file of the archive. */
export async function file(name: string, more = ""): Promise<unknown> {
  const url = `${server.url}/api${ACME}/workspaces/tarball?archive_type=tar&include_triggers=true&include_schedules=true&include_workspace_dependencies=true${more}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const found = (await new Bun.Archive(await answer.bytes()).files()).get(name);
  const text = await found?.text();
  return name.endsWith(".json") && text !== undefined ? JSON.parse(text) : text;
}

export async function formOf(path: string, field: string, json: unknown, files: Record<string, string>) {
  const body = new FormData();
  body.append(field, JSON.stringify(json));
  for (const [name, content] of Object.entries(files)) body.append(name, new Blob([content]), name);
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${server.url}/api${ACME}${path}`, { method: "POST", headers, body });
  return { status: answer.status, text: await answer.text() };
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpElsewhere(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask, token } = await server.workspace());
    ({ ask: ann } = await server.member("acme", "ann"));
    await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    await deploy(ask, "acme", "u/admin/echo", "export const main = (x?: number) => x ?? 'ran'");
  });
  afterAll(() => server.stop());
}
