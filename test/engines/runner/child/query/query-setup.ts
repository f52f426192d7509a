/** A server, and queries that it runs as previews. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpQueries(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
  });
  afterAll(() => server.stop());
}

interface Ended {
  id: string;
  success: boolean;
  result: any;
  args: any;
}

export async function awaitJobEnd(id: string): Promise<Ended> {
  const job = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json<Ended>() : undefined;
  }, `job ${id}`);
  return { ...job, result: (await ask("GET", `/w/acme/jobs_u/completed/get_result/${id}`)).json() };
}

export const start = async (language: string, content: string, args: object, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/preview${query}`, { language, content, args }))).text;
export const run = async (language: string, content: string, args: object = {}) =>
  awaitJobEnd(await start(language, content, args));
