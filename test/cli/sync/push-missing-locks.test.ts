/** Steps of a flow whose lock files are missing, whatever their names, are locked again. */
import { expect, test } from "bun:test";
import { createCliEnvironment } from "../program.ts";
import { writeFiles } from "./sync-files.ts";
import { get, setUpSync, svc } from "./sync-setup.ts";

setUpSync();

const flow = (lock: string) => `summary: One
value:
  modules:
    - id: a
      summary: "Step 1: Load"
      value:
        type: rawscript
        content: '!inline step_1:_load.inline_script.ts'
        lock: '!inline ${lock}'
        language: bun
        input_transforms: {}
`;

test.each(["step_1:_load.inline_script.lock", "plain.lock", "sub/x.lock"])("%s", async (lock) => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, {
    "f/data/folder.meta.yaml": "display_name: data\n",
    "f/data/one.flow/flow.yaml": flow(lock),
    "f/data/one.flow/step_1:_load.inline_script.ts": `export const main = () => "${lock}";\n`,
  });
  expect(await svc(place, "push", "--yes")).toMatchObject({ code: 0 });
  const { value } = await get("/flows/get/f/data/one");
  expect(value.modules[0].value.content).toContain(lock);
});

test.each(["../other.lock", ".git/config"])(
  "%s is rejected, because it is not beside the steps",
  async (lock) => {
    using place = createCliEnvironment();
    await writeFiles(place.folder, {
      "f/data/two.flow/flow.yaml": flow(lock),
      "f/data/two.flow/step_1:_load.inline_script.ts": "export const main = () => 1;\n",
    });
    const { code, err } = await svc(place, "push", "--yes");
    expect([code, err]).toEqual([2, expect.stringContaining(lock)]);
  },
);
