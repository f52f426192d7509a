/**
 * The TypeScript client reads its token once; here it does so in a process that runs many jobs, each with a
 * token.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { isOffline } from "./registry.ts";

const VERSIONS = ["1.394.6", "1.818.0"];

describe.skipIf(isOffline)("the client in a warm process", () => {
  let server: TestServer;
  const seen: string[] = [];
  const answers: number[][] = [];
  const status = async (token: string) => (await server.as(token)("GET", "/users/email")).status;
  /** A server that each job calls while it runs. */
  const desk = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      seen.push(await request.text());
      answers.push(await Promise.all(seen.map(status)));
      return new Response();
    },
  });
  beforeAll(async () => {
    server = await startTestServer({ child_idle_s: 600 });
  });
  afterAll(async () => {
    await server.stop();
    await desk.stop(true);
  });

  test.each(VERSIONS)(
    "keeps working from job to job, while tokens of ended jobs become invalid: %s",
    async (version) => {
      seen.length = 0;
      answers.length = 0;
      const workspace = `sdk-${version.replaceAll(".", "-")}`;
      const { ask } = await server.workspace(workspace);
      const variable = { path: "u/admin/plain", value: "moon", is_secret: false, description: "" };
      await expectOk(ask("POST", `/w/${workspace}/variables/create`, variable));
      const content = `import * as wmill from "windmill-client@${version}";
        let runs = 0;
        export async function main(desk: string) {
          const value = await wmill.getVariable("u/admin/plain");
          await wmill.setState(++runs);
          await (await fetch(desk, { method: "POST", body: process.env.WM_TOKEN })).text();
          const kept = await wmill.VariableService.getVariableValue({ workspace: "${workspace}", path: "u/admin/plain" });
          return [runs, value, kept, await wmill.getState()];
        }`;
      await deploy(ask, workspace, "u/admin/client", content);
      const run = async () =>
        (
          await expectOk(
            ask("POST", `/w/${workspace}/jobs/run_wait_result/p/u/admin/client`, { desk: desk.url.href }),
          )
        ).json();
      for (const n of [1, 2, 3]) expect(await run()).toEqual([n, "moon", "moon", n]);
      expect(answers.map((each) => each.at(-1))).toEqual([200, 200, 200]);
      expect(new Set(seen).size).toBe(3);
      expect(answers.map((each) => each.slice(0, -1))).toEqual([[], [401], [401, 401]]);
    },
    60_000,
  );
});
