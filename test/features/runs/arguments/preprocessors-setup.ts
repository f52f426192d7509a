/** A server, and calls of scripts with a preprocessor. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let token: string;

export const completed = (id: string): Promise<any> =>
  until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);

/** Starts the script and waits for its job to be completed. @returns the job's record */
export async function run(path: string, body: unknown, query = ""): Promise<any> {
  return completed((await expectOk(ask("POST", `/w/acme/jobs/run/p/${path}${query}`, body))).text);
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpPreprocessors(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask, token } = await server.workspace());
  });
  afterAll(() => server.stop());
}
