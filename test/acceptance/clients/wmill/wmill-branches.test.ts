/** A repository with one file per branch of some items: `wmill` and `svc push` deploy the same. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createCliEnvironment } from "../../../cli/program.ts";
import {
  createBranchFiles,
  MAIN_STATE,
  readBranchState,
  STAGING_STATE,
} from "../../../cli/sync/read/branch-files.ts";
import { writeFiles } from "../../../cli/sync/sync-files.ts";
import { startTestServer, type TestServer } from "../../../support/harness.ts";
import { isOffline } from "../registry.ts";
import { installWmill, VERSIONS, type Wmill } from "./wmill.ts";

setDefaultTimeout(90_000);

const CASES = [
  { section: "gitBranches", branch: "main", expected: MAIN_STATE },
  { section: "workspaces", branch: "feature/next", expected: STAGING_STATE },
];

describe.skipIf(isOffline)("items of one branch", () => {
  let server: TestServer;
  let wmill: Wmill;
  beforeAll(async () => {
    [server, wmill] = await Promise.all([startTestServer(), installWmill(VERSIONS.at(-1)!)]);
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await wmill[Symbol.asyncDispose]();
  });

  for (const [index, { section, branch, expected }] of CASES.entries())
    test(`--branch ${branch}, in ${section}`, async () => {
      const deploy = async (workspace: string, push: (token: string) => Promise<unknown>) => {
        const { ask, token } = await server.workspace(workspace);
        await push(token);
        return readBranchState((path) => ask("GET", `/w/${workspace}${path}`));
      };
      const theirs = await deploy(`their${index}`, async (token) => {
        const folder = await wmill.folder(`repository${index}`);
        await writeFiles(folder, createBranchFiles(section));
        const at = ["--base-url", server.url, "--token", token, "--workspace", `their${index}`];
        await wmill.ok(folder, [
          ..."sync push --yes --include-schedules --include-triggers --branch".split(" "),
          branch,
          ...at,
        ]);
      });
      const ours = await deploy(`our${index}`, async (token) => {
        using place = createCliEnvironment();
        await writeFiles(place.folder, createBranchFiles(section));
        const at = ["--url", server.url, "--token", token, "--workspace", `our${index}`];
        const { code, err } = await place.svc(["push", "--yes", "--branch", branch, ...at]);
        expect([code, err]).toEqual([0, expect.any(String)]);
      });
      expect(theirs).toEqual(expected);
      expect(ours).toEqual(expected);
    });
});
