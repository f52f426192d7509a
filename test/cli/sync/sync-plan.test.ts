/** Changes of a push are shown and confirmed first; invalid and rejected items are named. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createCliEnvironment } from "../program.ts";
import { ENTER, startSession } from "../session.ts";
import { edit, get, server, setUpSync, start, svc, token } from "./sync-setup.ts";

setUpSync();

test("a plan shows the differences in a few lines", async () => {
  using place = createCliEnvironment();
  await start(place);
  await edit(place, "f/data/hello.ts", "hello ${name}", "good day, ${name}");
  await edit(place, "f/data/host.variable.yaml", "example.org", "example.net");
  await edit(place, "f/data/database.resource.yaml", "5432", "5433");
  rmSync(join(place.folder, "f/data/nightly.schedule.yaml"));
  await place.file("u/admin/new.ts", "export const main = () => 1\n");
  const { out } = await svc(place, "push", "--dry-run", "--delete");
  expect(out).toBe(`~ variable          f/data/host  value
    - value: example.org
    + value: example.net
~ resource          f/data/database  value
~ script            f/data/hello  content
    - export const main = (name: string) => \`hello \${name}\`;
    + export const main = (name: string) => \`good day, \${name}\`;
+ script            u/admin/new
- schedule          f/data/nightly
5 changes: 1 to create, 3 to change, 1 to delete
`);
  const back = await svc(place, "pull", "--dry-run");
  expect(back.out).toContain("    - value: example.net\n    + value: example.org\n");
  const json = await svc(place, "push", "--dry-run", "--json");
  expect(JSON.parse(json.out)).toEqual({
    applied: false,
    changes: [
      { change: "change", kind: "variable", path: "f/data/host" },
      { change: "change", kind: "resource", path: "f/data/database" },
      { change: "change", kind: "script", path: "f/data/hello" },
      { change: "create", kind: "script", path: "u/admin/new" },
    ],
    left: [{ kind: "schedule", path: "f/data/nightly" }],
  });
}, 60_000);

test("rejections are reported one by one, and stop nothing else", async () => {
  using place = createCliEnvironment();
  await start(place);
  await place.file("f/data/broken.ts", "export const main = (\n");
  await place.file(
    "f/data/wrong.schedule.yaml",
    "schedule: never\ntimezone: UTC\nscript_path: f/data/hello\n",
  );
  await place.file("f/data/right.variable.yaml", "value: yes it is\nis_secret: false\n");
  const { code, err } = await svc(place, "push", "--yes");
  expect(code).toBe(1);
  expect(err).toContain("stored but cannot run: f/data/broken.ts:2:1: syntax error: ");
  expect(err).toContain("schedule f/data/wrong: ");
  expect(err).toContain(
    "error: 1 of 3 changes could not be made; 1 of the 2 changes made cannot run yet\nhint: what was done stays;",
  );
  expect((await get("/variables/get/f/data/right")).value).toBe("yes it is");
  const json = await svc(place, "push", "--yes", "--json");
  expect(JSON.parse(json.out).changes).toEqual([
    expect.objectContaining({ path: "f/data/wrong", error: expect.stringContaining("never") }),
    expect.objectContaining({ path: "f/data/broken", error: expect.stringContaining("syntax error") }),
  ]);
}, 60_000);

test("an invalid folder changes nothing, and the file is named", async () => {
  using place = createCliEnvironment();
  const cases: [name: string, content: string, error: string][] = [
    ["f/data/a.variable.yaml", "value: [", "f/data/a.variable.yaml is not YAML: "],
    ["f/data/a.variable.yaml", "- 1", "f/data/a.variable.yaml: must be an object"],
    ["f/data/b.script.yaml", "summary: B", "f/data/b.script.yaml: there is no code beside it"],
    [
      "f/data/c.flow/flow.yaml",
      "value: {modules: [{id: a, value: {type: rawscript, language: bun, content: !inline ../../../secret}}]}",
      "f/data/c.flow/flow.yaml, a, `content`: ../../../secret is outside of the flow's folder",
    ],
  ];
  for (const [name, content, error] of cases) {
    await place.file(name, content);
    const { code, err } = await svc(place, "push", "--yes");
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(`error: ${error}`) });
    rmSync(join(place.folder, name));
  }
  expect(await svc(place, "push")).toMatchObject({ code: 2, err: expect.stringContaining("holds nothing") });
});

test("it asks for confirmation; without a terminal it needs --yes", async () => {
  using place = createCliEnvironment();
  await start(place);
  await edit(place, "f/data/host.variable.yaml", "example.org", "example.com");
  expect(await svc(place, "push")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--yes is missing"),
  });
  const words = ["push", "--workspace", "acme", "--url", server.url, "--token", token];
  for (const [answer, code, value] of [
    ["n", 130, "example.org"],
    ["y", 0, "example.com"],
  ] as const) {
    using session = startSession(place, words);
    await session.sees("Apply these changes to workspace acme");
    session.types(`${answer}${ENTER}`);
    expect((await session.ended()).code).toBe(code);
    expect(await get("/variables/get_value/f/data/host")).toBe(value);
  }
}, 60_000);
