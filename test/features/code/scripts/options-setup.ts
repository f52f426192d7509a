/** A server whose runs report that they have started, and calls of its scripts. */
import { afterAll, beforeAll } from "bun:test";
import { rmSync } from "node:fs";
import {
  type Ask,
  createTemporaryFolder,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let token: string;

/** Folder in which runs record that they have started. */
export let folder: string;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpOptions(): void {
  folder = createTemporaryFolder("svc-begun-");
  beforeAll(async () => {
    server = await startTestServer({ workers: 4, sandbox_write: folder });
    ({ ask, token } = await server.workspace());
    await expectOk(
      server.operator("POST", "/settings/global/custom_tags", { value: ["$workspace-$args[size]", "other"] }),
    );
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

export const jobs = "/w/acme/jobs";
export const callScript = (
  path: string,
  args: unknown = {},
  query = "",
  headers: Record<string, string> = {},
) => ask("POST", `${jobs}/run_wait_result/p/${path}${query}`, args, headers);
export const start = async (
  path: string,
  args: unknown = {},
  query = "",
  headers: Record<string, string> = {},
) => (await expectOk(ask("POST", `${jobs}/run/p/${path}${query}`, args, headers))).text;
export const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);
export const getJobState = async (id: string) => (await ask("GET", `${jobs}_u/get/${id}`)).json();
