/** A server, and a folder to push into its workspace. */
import { afterAll, beforeAll, expect } from "bun:test";
import { join } from "node:path";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import type { CliEnvironment, CommandResult } from "../program.ts";
import { WORKSPACE_FILES, writeFiles } from "./sync-files.ts";

export let server: TestServer;
export let ask: Ask;
export let token: string;

export const get = async (path: string) => (await expectOk(ask("GET", `/w/acme${path}`))).json();

export const svc = (place: CliEnvironment, ...words: string[]): Promise<CommandResult> =>
  place.svc([...words, "--workspace", "acme", "--url", server.url, "--token", token]);

export async function edit(place: CliEnvironment, name: string, from: string, to: string): Promise<void> {
  const file = Bun.file(join(place.folder, name));
  const before = await file.text();
  expect(before).toContain(from);
  await file.write(before.replace(from, to));
}

export const start = async (place: CliEnvironment) => {
  await writeFiles(place.folder, WORKSPACE_FILES);
  expect(await svc(place, "push", "--yes", "--delete")).toMatchObject({ code: 0 });
};

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSync(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask, token } = await server.workspace());
    await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["acme"] }));
    await server.member("acme", "ann");
  });
  afterAll(() => server.stop());
}
