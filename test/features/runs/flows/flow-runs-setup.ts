/** A server, short constructors of steps, and flows that are run to their result. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;

export const jobs = "/w/acme/jobs";

export const js = (expr: string) => ({ type: "javascript", expr });

export const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});

let count = 0;
/** A number that is used once per file. */
export const nextNumber = () => ++count;
export async function push(modules: object[], more: object = {}): Promise<string> {
  const path = `u/admin/flow_${++count}`;
  const body = { path, summary: "", value: { modules, ...more } };
  await expectOk(ask("POST", "/w/acme/flows/create", body));
  return path;
}
export const run = (path: string, args: object = {}) =>
  ask("POST", `${jobs}/run_wait_result/f/${path}`, args);
export async function result(modules: object[], args: object = {}, more: object = {}): Promise<any> {
  const answer = await expectOk(run(await push(modules, more), args));
  return answer.json();
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpFlowRuns(): void {
  beforeAll(async () => {
    server = await startTestServer({ workers: 4 });
    ({ ask } = await server.workspace());
    await expectOk(
      server.operator("POST", "/settings/global/custom_tags", { value: ["mine", "ours", "theirs", "yours"] }),
    );
  });
  afterAll(() => server.stop());
}
