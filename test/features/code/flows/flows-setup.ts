/** A server with users of different rights, and calls of its flows. */
import { afterAll, beforeAll } from "bun:test";
import { type Answer, type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let admin: Ask;
export let ann: Ask;
export let bob: Ask;
export let viewer: Ask;

export const createOneStepFlow = (content: string) => ({
  modules: [{ id: "a", value: { type: "rawscript", language: "bun", content, input_transforms: {} } }],
});
export const ONE_STEP_FLOW = createOneStepFlow("export const main = () => 1");

export const readRefusal = (answer: Answer) => [answer.status, answer.headers.get("svc-error")];

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpFlows(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask: admin } = await server.workspace());
    ({ ask: ann } = await server.member("acme", "ann"));
    ({ ask: bob } = await server.member("acme", "bob"));
    ({ ask: viewer } = await server.member("acme", "viewer", "operator"));
  });
  afterAll(() => server.stop());
}
