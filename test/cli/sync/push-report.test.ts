/** `svc push --report`: what was deployed, what was changed, what will not run and why. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { createCliEnvironment } from "../program.ts";
import { writeFiles } from "./sync-files.ts";

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await server.workspace());
});
afterAll(() => server.stop());

test("a report lists items that need attention, and counts the others", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "f/data/folder.meta.yaml": "display_name: data\n",
    "f/data/there.variable.yaml": "value: here\nis_secret: false\ndescription: ''\n",
    "f/data/bad.ts": "export const main = (\n",
    "f/data/wrong.schedule.yaml": "schedule: never\ntimezone: UTC\nscript_path: f/data/fine\n",
    "f/data/in.email_trigger.yaml": "script_path: f/data/fine\nlocal_part: in\n",
    "f/data/fast.cs": "class Script {}\n",
    "f/data/crate.ps1": "# greets\nImport-Module SomeThing\nWrite-Output 1\n",
    "f/data/fine.ts": "export const main = () => 1; // getVariable('f/data/there')\n",
    "f/data/asks.ts":
      "export const main = () => 1; // getVariable('f/data/gone') getResource(\"f/data/db\")\n",
    "f/data/password.variable.yaml": "value: sealed\nis_secret: true\ndescription: ''\n",
    "f/data/hub.flow/flow.yaml":
      "summary: Hub\nvalue:\n  modules:\n    - id: a\n      value: {type: script, path: hub/1/slack/send, input_transforms: {}}\n",
  });
  const flags = ["--url", server.url, "--token", token, "--workspace", "acme"];
  const { code, out } = await place.svc(["push", "--yes", "--report", ...flags]);
  expect(code).toBe(1);
  for (const told of [
    "taken: script f/data/bad\n  it is stored but cannot run: f/data/bad.ts:2:1: syntax error: ",
    "not taken: schedule f/data/wrong\n",
    "taken: script f/data/fast\n  will not run: csharp is stored, but not offered\n",
    "taken: script f/data/crate\n  will not run: the script requires SomeThing (line 2), but powershell scripts have the standard library only: write it without",
    "taken: script f/data/asks\n  needs variable f/data/gone, which is to be set\n  needs resource f/data/db, which is to be set\n",
    "taken: email trigger f/data/in\n  stored; svc does not run e-mail triggers\n",
    "  will not run: a step runs hub/1/slack/send",
    "not taken: variable f/data/password\n  a secret that is to be set: the push leaves values of secrets out without --secrets\n",
    "9 of 11 items taken, 6 of them with something to be done before all of it runs",
  ])
    expect(out).toContain(told);
  expect(out).not.toContain("taken: script f/data/fine");
}, 60_000);

test("a tag that jobs may not use is stored with a warning, also without a report", async () => {
  const value = ["known", "here(acme)", "of-$workspace"];
  await expectOk(server.operator("POST", "/settings/global/custom_tags", { value }));
  using place = createCliEnvironment();
  const script = (tag: string) => ({
    content: "export const main = () => 1;\n",
    meta: `summary: ''\ntag: ${tag}\n`,
  });
  const files: Record<string, string> = {
    "f/tags/folder.meta.yaml": "display_name: tags\n",
    "f/tags/flow.flow/flow.yaml":
      "summary: ''\nvalue:\n  modules:\n    - id: a\n      value: {type: rawscript, language: bun, tag: far, content: 'export const main = () => 1', input_transforms: {}}\n    - id: b\n      value: {type: script, path: f/tags/known, tag_override: here, input_transforms: {}}\n",
    "f/tags/at.schedule.yaml":
      "script_path: f/tags/known\nis_flow: false\nschedule: 0 0 0 1 1 *\ntimezone: UTC\nenabled: false\nargs: {}\ntag: gpu\n",
  };
  for (const [name, tag] of Object.entries({
    known: "known",
    own: "of-acme",
    gpu: "gpu",
    sized: "size-$args[size]",
    plain: "bun",
  })) {
    const { content, meta } = script(tag);
    files[`f/tags/${name}.ts`] = content;
    files[`f/tags/${name}.script.yaml`] = meta;
  }
  await writeFiles(place.folder, files);
  const flags = ["--url", server.url, "--token", token, "--workspace", "acme"];
  const pushed = await place.svc(["push", "--yes", ...flags]);
  const warnings = pushed.err.split("\n").filter((line) => line.startsWith("warning: "));
  const why = (tag: string) =>
    `runs for super admins only: the tag ${tag} is not in the setting custom_tags for this workspace`;
  expect(warnings.sort()).toEqual([
    `warning: flow f/tags/flow ${why("far")}`,
    `warning: schedule f/tags/at ${why("gpu")}`,
    `warning: script f/tags/gpu ${why("gpu")}`,
  ]);
  expect(pushed.code).toBe(0);
  await Bun.write(`${place.folder}/f/tags/gpu.ts`, "export const main = () => 2;\n");
  const reported = await place.svc(["push", "--yes", "--report", ...flags]);
  expect(reported.out).toContain(`taken: script f/tags/gpu\n  ${why("gpu")}\n`);
}, 60_000);
