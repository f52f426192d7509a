/** A server, and calls of its scripts. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, startTestServer, type TestServer, until } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

export async function completed(id: string): Promise<any> {
  return until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `job ${id}`);
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpJobs(): void {
  beforeAll(async () => {
    server = await startTestServer({ max_result_mb: 20 });
    ({ ask } = await server.workspace());
  });
  afterAll(() => server.stop());
}
