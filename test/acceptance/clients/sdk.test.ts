/** Every function of the TypeScript client, in the version that scripts of the time import. */
import { afterAll, beforeAll, describe } from "bun:test";
import { isOffline } from "./registry.ts";
import { type Sdk, startSdk, testCases, testCompleteness } from "./sdk.ts";
import { CASES, FLOW_SOURCES, testFlowCalls } from "./sdk-cases.ts";

/** The package does not export all of the client; the rest is imported from its file. */
const IMPORTS =
  'import * as wmill from "windmill-client@1.394.6";\nimport * as client from "windmill-client@1.394.6/dist/client.js";\n';

describe.skipIf(isOffline)("the client", () => {
  let sdk: Sdk;
  beforeAll(async () => {
    sdk = await startSdk(IMPORTS);
  }, 60_000);
  afterAll(() => sdk.stop());

  describe("called by a script:", () => testCases(() => sdk, CASES));

  describe("called by a step of a flow:", () => testFlowCalls(() => sdk));

  const tested = [...CASES.map(({ source }) => source), FLOW_SOURCES.userState, ...FLOW_SOURCES.urls];
  testCompleteness(() => sdk, tested, {
    exported: "{ ...client, ...wmill }",
    absent:
      "appendToResultStream cancelJob getPresignedS3PublicUrls getProgress runScriptByHash runScriptByHashAsync runScriptByPath runScriptByPathAsync setProgress signS3Objects sleep step streamResult workflow".split(
        " ",
      ),
    untested: {},
  });
});
