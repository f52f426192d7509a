/** Flows from files: pushing, printing, and drawing them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment, formatError } from "../../program.ts";

let server: TestServer;
let place: CliEnvironment;
let reach: string[];

beforeAll(async () => {
  server = await startTestServer();
  const { token } = await server.workspace();
  place = createCliEnvironment();
  reach = ["--workspace", "acme", "--url", server.url, "--token", token];
});
afterAll(async () => {
  await server.stop();
  place[Symbol.dispose]();
});

const flow = (...args: string[]) => place.svc(["flow", ...args, ...reach]);
const stored = async (path: string) =>
  (await server.operator("GET", `/w/acme/flows/get/${path}`)).json() as any;

const SCRIPT = "export function main(day: string) {\n  return [day];\n}\n";
const ORDER = `
summary: Handles orders
description: Every night
value:
  modules:
    - id: fetch
      summary: Fetch
      retry: { constant: { attempts: 2, seconds: 1 } }
      value:
        type: rawscript
        language: bun
        content: '!inline code/fetch.ts'
        lock: !inline fetch.lock
        input_transforms: { day: { type: javascript, expr: flow_input.day } }
    - id: each
      value:
        type: forloopflow
        iterator: { type: javascript, expr: results.fetch }
        skip_failures: false
        parallel: true
        modules:
          - id: ship
            suspend: { required_events: 1 }
            value: { type: script, path: f/shop/ship, input_transforms: {} }
    - id: sort
      value:
        type: branchone
        branches:
          - expr: "results.each.length > 1 && \\"many\\""
            modules:
              - id: many
                value: { type: flow, path: f/shop/many, input_transforms: {} }
        default: []
    - id: both
      value:
        type: branchall
        branches:
          - summary: Mail
            modules: [{ id: mail, value: { type: identity } }]
          - modules: []
  failure_module:
    id: failure
    value: { type: rawscript, language: bash, content: "echo no", input_transforms: {} }
schema: { type: object, properties: { day: { type: string } } }
`;

const VERSION = /^\d+\n$/;

async function writeOrder(folder: string): Promise<void> {
  await place.file(`${folder}/flow.yaml`, ORDER);
  await place.file(`${folder}/code/fetch.ts`, SCRIPT);
  await place.file(`${folder}/fetch.lock`, "");
}

describe("pushing", () => {
  test("a file, with its scripts in files beside it; again creates a new version", async () => {
    await writeOrder("order");
    const first = await flow("push", "order/flow.yaml", "--path", "u/admin/order", "--message", "first");
    expect(first).toEqual({ code: 0, out: expect.stringMatching(VERSION), err: "" });
    const found = await stored("u/admin/order");
    expect([found.summary, found.description, found.version_id]).toEqual([
      "Handles orders",
      "Every night",
      Number(first.out),
    ]);
    expect(found.schema.properties).toEqual({ day: { type: "string" } });
    expect(found.value.modules[0].value).toMatchObject({ content: SCRIPT, lock: "" });
    const second = await flow("push", "order", "u/admin/order", "--json");
    expect(second.code).toBe(0);
    const { path, version } = JSON.parse(second.out);
    expect([path, version > Number(first.out)]).toEqual(["u/admin/order", true]);
    const history = (await server.operator("GET", "/w/acme/flows/history/p/u/admin/order")).json();
    expect(history.map((row: any) => row.deployment_msg)).toEqual([null, "first"]);
  }, 60_000);

  test("takes the path from the file or the folder if none is given", async () => {
    await writeOrder("f/shop/nightly.flow");
    const body = { path: "u/admin/told", summary: "", value: { modules: [] } };
    await place.file("told.json", JSON.stringify(body));
    const ended = await Promise.all([
      flow("push", "f/shop/nightly.flow/flow.yaml"),
      flow("push", "told.json"),
    ]);
    expect(ended.map(({ code, err }) => [code, err])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect((await stored("f/shop/nightly")).summary).toBe("Handles orders");
    expect((await stored("u/admin/told")).value).toEqual({ modules: [] });
  }, 60_000);

  test("says which reference finds no step, and stores the flow", async () => {
    const input_transforms = { x: { type: "javascript", expr: "results.zzz" } };
    const value = { modules: [{ id: "a", value: { type: "script", path: "u/admin/x", input_transforms } }] };
    await place.file("dangling.json", JSON.stringify({ path: "u/admin/dangling", summary: "", value }));
    expect(await flow("push", "dangling.json")).toEqual({
      code: 0,
      out: expect.stringMatching(VERSION),
      err:
        "warning: modules.0.value.input_transforms.x.expr: " +
        "step a refers to results.zzz, and the flow has no step zzz\n",
    });
  });

  test("reports invalid files, and pushes nothing", async () => {
    const raw = (content: string) => ({
      value: {
        modules: [{ id: "a", value: { type: "rawscript", language: "bun", content, input_transforms: {} } }],
      },
    });
    const write = (name: string, value: object) => place.file(name, JSON.stringify(value));
    await place.file("bad.json", "{bad}");
    await place.file("bad.yaml", "a: [");
    await place.file("empty/readme.md", "");
    await write("none.json", { modules: [] });
    await write("missing.json", raw("!inline missing.ts"));
    await write("in/outside.json", raw("!inline ../order/fetch.lock"));
    await write("in/link.json", raw("!inline linked.ts"));
    symlinkSync(join(place.folder, "missing.json"), join(place.folder, "in/linked.ts"));
    await write("good.json", raw("export const main = () => 1"));
    const cases: [args: string[], error: string, hint?: string][] = [
      [["nowhere.yaml", "u/a/b"], "there is no file nowhere.yaml"],
      [["empty", "u/a/b"], "the folder empty holds none of flow.yaml, flow.yml, flow.json"],
      [["none.json", "u/a/b"], "none.json is not a flow: it must be an object with the key `value`"],
      [["missing.json", "u/a/b"], "step a, `content`: there is no file missing.ts"],
      [
        ["in/outside.json", "u/a/b"],
        "step a, `content`: ../order/fetch.lock is outside of the flow's folder",
      ],
      [["in/link.json", "u/a/b"], "step a, `content`: linked.ts is outside of the flow's folder"],
      [["good.json"], "the path is missing", "svc flow push <file> u/<user>/<name>"],
      [
        ["good.json", "u/a/b", "--path", "u/a/c"],
        "two paths were given: u/a/b and --path u/a/c",
        "leave one of them out",
      ],
    ];
    const ended = await Promise.all(cases.map(([args]) => flow("push", ...args)));
    for (const [index, [args, error, hint]] of cases.entries()) {
      expect({ args, ...ended[index] }).toEqual({ args, code: 2, out: "", err: formatError(error, hint) });
    }
    for (const name of ["bad.json", "bad.yaml"]) {
      const { code, err } = await flow("push", name, "u/a/b");
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^error: bad\.(json is not JSON|yaml is not YAML): /),
      ]);
    }
    expect((await server.operator("GET", "/w/acme/flows/list?path_start=u/a/")).json()).toEqual([]);
  }, 60_000);

  test("reports rejections by the server", async () => {
    await place.file("wrong.yaml", "summary: ''\nvalue: { modules: 1 }");
    const { code, out, err } = await flow("push", "wrong.yaml", "u/admin/wrong");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("modules");
  }, 60_000);

  test("without a server waits for its own locks, and reports why there are none", async () => {
    const alone = createCliEnvironment();
    const svc = (...args: string[]) => alone.svc(args);
    await svc("user", "create", "--email", "ann@example.org", "--password", "correct-horse");
    await svc("workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org");
    const content = 'import "svc-no-such-package-at-all"; export const main = () => 1';
    const value = { type: "rawscript", language: "bun", content, input_transforms: {} };
    await alone.file("flow.json", JSON.stringify({ value: { modules: [{ id: "a", value }] } }));
    const { code, err } = await svc("flow", "push", "flow.json", "u/ann/needs", "--workspace", "acme");
    expect([code, err]).toEqual([
      1,
      expect.stringContaining("cannot run: step a, `content`: dependencies could"),
    ]);
    expect(err).toContain("svc-no-such-package-at-all");
    alone[Symbol.dispose]();
  }, 60_000);
});

describe("a deployed flow", () => {
  beforeAll(async () => {
    await writeOrder("shown");
    expect((await flow("push", "shown", "f/shop/shown")).code).toBe(0);
  });

  test("is listed, shown in a form that can be pushed again, and archived", async () => {
    const listed = await flow("list", "--prefix", "f/shop/shown");
    expect(listed).toEqual({
      code: 0,
      out: expect.stringMatching(/^f\/shop\/shown\t\d+\tHandles orders\n$/),
      err: "",
    });
    const shown = await flow("show", "f/shop/shown");
    expect(shown.err).toMatch(/^f\/shop\/shown {2}version \d+\n$/);
    await place.file("again.yaml", shown.out);
    expect((await flow("push", "again.yaml", "f/shop/again")).code).toBe(0);
    const [one, two] = [await stored("f/shop/shown"), await stored("f/shop/again")];
    expect([two.summary, two.description, two.value, two.schema]).toEqual([
      one.summary,
      one.description,
      one.value,
      one.schema,
    ]);
    expect(JSON.parse((await flow("show", "f/shop/shown", "--json")).out)).toEqual(one);
    expect(await flow("archive", "f/shop/again")).toEqual({
      code: 0,
      out: "",
      err: "archived f/shop/again; svc flow unarchive f/shop/again brings it back\n",
    });
    expect((await stored("f/shop/again")).archived).toBe(true);
    expect(await flow("show", "f/shop/never")).toEqual({
      code: 1,
      out: "",
      err: formatError(
        "there is no flow f/shop/never in workspace acme",
        "svc script list --workspace acme and svc flow list show what there is",
      ),
    });
  }, 60_000);

  test("is drawn as a tree", async () => {
    const { out, err } = await flow("graph", "f/shop/shown");
    expect(err).toBe("");
    expect(out).toBe(`f/shop/shown  Handles orders
├─ fetch  Fetch (bun script), with retries
├─ each  for each of results.fetch, in parallel
│  └─ ship  script f/shop/ship, then waits for approval
├─ sort  one branch
│  ├─ if results.each.length > 1 && "many"
│  │  └─ many  flow f/shop/many
│  └─ otherwise
├─ both  all branches
│  ├─ Mail
│  │  └─ mail  nothing
│  └─ branch 2
└─ failure  bash script
`);
    const { steps } = JSON.parse((await flow("graph", "f/shop/shown", "--json")).out);
    expect(steps[1].inner).toEqual([
      { text: "ship  script f/shop/ship, then waits for approval", inner: [] },
    ]);
  }, 60_000);

  test("is drawn as a Mermaid flowchart", async () => {
    const { out } = await flow("graph", "f/shop/shown", "--mermaid");
    expect(out).toBe(`flowchart TD
  n0(["f/shop/shown"])
  n1["fetch: Fetch (bun script)"]
  n0 --> n1
  n2[["each: for each of results.fetch, in parallel"]]
  n1 --> n2
  n3["ship: script f/shop/ship"]
  n2 --> n3
  n3 --> n2
  n4{"sort: one branch"}
  n2 --> n4
  n5["many: flow f/shop/many"]
  n4 -->|"if results.each.length #62; 1 #38;#38; #34;many#34;"| n5
  n6[["both: all branches"]]
  n5 --> n6
  n4 -->|"otherwise"| n6
  n7["mail: nothing"]
  n6 -->|"Mail"| n7
  n8(["end"])
  n7 --> n8
  n6 -->|"branch 2"| n8
  n9["failure: bash script"]
  n0 -->|"on failure"| n9
`);
  }, 60_000);
});
