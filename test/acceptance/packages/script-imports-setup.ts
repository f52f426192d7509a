/** A server, and scripts that import each other. */
import { afterAll, beforeAll, expect } from "bun:test";
import { type Ask, startTestServer, type TestServer, until } from "../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

export interface Status {
  lock?: string;
  lock_error_logs?: string;
}

/** Deploys a script, and waits until its dependencies are resolved or failed. */
export async function deploy(
  path: string,
  content: string,
  language = "bun",
  more: object = {},
): Promise<Status> {
  const before = await ask("GET", `/w/acme/scripts/get/p/${path}`);
  const parent_hash = before.status === 200 ? before.json().hash : undefined;
  const body = { path, content, language, parent_hash, ...more };
  const created = await ask("POST", "/w/acme/scripts/create", body);
  expect([created.status, created.text]).toEqual([201, expect.any(String)]);
  return until(async () => {
    const status = (await ask("GET", `/w/acme/scripts/deployment_status/h/${created.text}`)).json<Status>();
    return status.lock !== undefined || status.lock_error_logs !== undefined ? status : undefined;
  }, `the deployment of ${path}`);
}

export const run = async (path: string, args = {}) => {
  const { status, text, json } = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, args);
  return status < 400 ? json() : text;
};

/** Runs a script until its result is the expected one: importers are resolved again in the background. */
export const awaitResult = (path: string, result: unknown) =>
  until(
    async () => (Bun.deepEquals(await run(path), result) ? true : undefined),
    `${path} to give ${result}`,
  );

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpImports(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    for (const name of ["lib", "app"]) await ask("POST", "/w/acme/folders/create", { name });
  });
  afterAll(() => server.stop());
}
