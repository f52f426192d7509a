/** `svc push --report`: what was taken, what was changed, what will not run and why. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestServer, type TestServer } from "../../support/harness.ts";
import { newPlace } from "../program.ts";
import { writeFiles } from "./sync-files.ts";

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await server.workspace());
});
afterAll(() => server.stop());

test("a report names what needs a person, and counts what does not", async () => {
  using place = newPlace();
  await writeFiles(place.folder, {
    "f/data/folder.meta.yaml": "display_name: data\n",
    "f/data/there.variable.yaml": "value: here\nis_secret: false\ndescription: ''\n",
    "f/data/bad.ts": "export const main = (\n",
    "f/data/fast.cs": "class Script {}\n",
    "f/data/fine.ts": "export const main = () => 1; // getVariable('f/data/there')\n",
    "f/data/asks.ts":
      "export const main = () => 1; // getVariable('f/data/gone') getResource(\"f/data/db\")\n",
    "f/data/hub.flow/flow.yaml":
      "summary: Hub\nvalue:\n  modules:\n    - id: a\n      value: {type: script, path: hub/1/slack/send, input_transforms: {}}\n",
  });
  const flags = ["--url", server.url, "--token", token, "--workspace", "acme"];
  const { code, out } = await place.svc(["push", "--yes", "--report", ...flags]);
  expect(code).toBe(1);
  for (const told of [
    "not taken: script f/data/bad\n",
    "taken: script f/data/fast\n  will not run: csharp is stored, but not offered\n",
    "taken: script f/data/asks\n  needs variable f/data/gone, which is to be set\n  needs resource f/data/db, which is to be set\n",
    "  will not run: a step runs hub/1/slack/send",
    "6 of 7 items taken, 3 of them with something to be done before all of it runs",
  ])
    expect(out).toContain(told);
  expect(out).not.toContain("taken: script f/data/fine");
}, 60_000);
