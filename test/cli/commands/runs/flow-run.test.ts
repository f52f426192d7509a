/** Running flows: steps are printed as they end, as a tree on a terminal, with results. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../../program.ts";
import { CTRL_C, startSession } from "../../session.ts";

const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, inputs: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
});
const FLOW = {
  modules: [
    script("first", "export const main = (n: number) => n * 2", { n: js("flow_input.n") }),
    {
      id: "each",
      summary: "All of them",
      value: {
        type: "forloopflow",
        iterator: js("[1, 2, 3]"),
        skip_failures: false,
        parallel: true,
        modules: [script("one", "export const main = (v: number) => v", { v: js("flow_input.iter.value") })],
      },
    },
    {
      id: "way",
      value: {
        type: "branchone",
        branches: [
          {
            expr: "flow_input.n > 100",
            modules: [script("large", "export const main = () => { throw new RangeError('too large') }")],
          },
        ],
        default: [script("small", "export const main = (all: unknown) => all", { all: js("results") })],
      },
    },
  ],
};
const RESULT = { first: 4, each: [1, 2, 3] };
const SLOW = { modules: [script("slow", "export const main = () => Bun.sleep(600_000)")] };
const STREAMS = { modules: [script("s", "export function* main() { yield 'a'; yield 'b' }")] };
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}\n$/;
/** Durations differ from run to run. */
const timeless = (text: string) => text.replace(/\d+(\.\d+)? m?s/g, "T");

describe("with a server", () => {
  let server: TestServer;
  let place: CliEnvironment;
  beforeAll(async () => {
    place = createCliEnvironment();
    server = await startTestServer({ data_dir: place.data_dir });
    const { ask } = await server.workspace();
    for (const [name, value] of Object.entries({ way: FLOW, slow: SLOW, streams: STREAMS })) {
      await expectOk(ask("POST", "/w/acme/flows/create", { path: `u/admin/${name}`, summary: "", value }));
    }
  });
  afterAll(async () => {
    await server.stop();
    place[Symbol.dispose]();
  });

  test("svc flow run <folder> runs the folder's files without deploying them", async () => {
    const words = script("words", "!inline words.py", { n: js("results.twice") });
    const folder = "f/shop/local.flow";
    const files = {
      "flow.yaml": JSON.stringify({
        summary: "",
        value: {
          modules: [
            script("twice", "!inline twice.ts", { n: js("flow_input.n") }),
            { ...words, value: { ...words.value, language: "python3" } },
          ],
        },
        schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      }),
      "twice.ts": "export const main = (n: number) => n * 2",
      "words.py": "def main(n):\n    return f'{n} words'",
    };
    for (const [name, text] of Object.entries(files))
      await Bun.write(`${place.folder}/${folder}/${name}`, text);
    for (const given of [`./${folder}`, folder, `./${folder}/flow.yaml`]) {
      const { code, out, err } = await place.svc(["flow", "run", given, "n=4"]);
      expect([code, out, err]).toEqual([0, '"8 words"\n', expect.any(String)]);
      expect(timeless(err).trim().split("\n")).toEqual(["twice: success, T", "words: success, T"]);
    }
    const missing = await place.svc(["flow", "run", folder]);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("the argument n is missing")]);
  });

  test.each([[["flow", "run"]], [["run"]]])(
    "svc %p tells the steps, and the result",
    async (words) => {
      const { code, out, err } = await place.svc([...words, "u/admin/way", "-d", '{"n":2}']);
      expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: RESULT });
      expect(timeless(err).trim().split("\n").sort()).toEqual([
        "each: success, 3 of 3, T",
        "first: success, T",
        "small: success, T",
        "way: success, T",
      ]);
      expect(await place.svc([...words, "u/admin/streams", "--stream", "--no-log"])).toEqual({
        code: 0,
        out: "ab",
        err: "",
      });
    },
    60_000,
  );

  test("a failed flow fails the command", async () => {
    const { code, out, err } = await place.svc(["flow", "run", "u/admin/way", "-d", '{"n":101}']);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(timeless(err)).toContain("large: failure, T\n");
    expect(err).toContain("error: RangeError: too large\n");
    const missing = await place.svc(["flow", "run", "u/admin/nowhere"]);
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("u/admin/nowhere") });
  });

  test("--async prints the id", async () => {
    const { code, out, err } = await place.svc(["flow", "run", "u/admin/way", "-d", '{"n":2}', "--async"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(UUID);
  });
});

describe("without a server", () => {
  let place: CliEnvironment;
  beforeAll(async () => {
    place = createCliEnvironment();
    await place.svc(["user", "create", "--email", "ann@example.org", "--password", "correct-horse"]);
    await place.svc(["workspace", "create", "acme", "--name", "Acme", "--owner", "ann@example.org"]);
    const each = FLOW.modules[1]!;
    const iterator = js("Array.from({ length: 12 }, (_, index) => index)");
    const many = { modules: [{ ...each, value: { ...each.value, iterator } }] };
    for (const [name, value] of Object.entries({ way: FLOW, slow: SLOW, many })) {
      await place.file(`${name}.json`, JSON.stringify({ summary: "", value }));
      const pushed = await place.svc(["flow", "push", `${name}.json`, `u/admin/${name}`]);
      if (pushed.code !== 0) throw new Error(pushed.err);
    }
  }, 60_000);
  afterAll(() => place[Symbol.dispose]());

  test("a command runs all of a flow, however few slots it has", async () => {
    const { code, out } = await place.svc(["run", "u/admin/way", "-d", '{"n":2}']);
    expect({ code, out: JSON.parse(out) }).toEqual({ code: 0, out: RESULT });
    const { out: all } = await place.svc(["run", "u/admin/many"], { env: { SVC_WORKERS: "2" } });
    expect(JSON.parse(all)).toHaveLength(12);
  }, 60_000);

  // A server in the test's process would end these sessions, which it treats as leftover processes.

  test("on a terminal the steps are shown as a tree, which stays", async () => {
    using person = startSession(place, ["flow", "run", "u/admin/way", "-d", '{"n":2}']);
    const { code, shown } = await person.ended();
    expect(code).toBe(0);
    const tree = timeless(shown.replaceAll("\r", ""));
    expect(tree).toContain("├─ ✓ first  bun script  T\n");
    expect(tree).toContain("├─ ✓ each  All of them (for each of [1, 2, 3], in parallel)  3 of 3, T\n");
    expect(tree).toContain("└─ ✓ way  one branch  T\n   └─ ✓ small  bun script  T\n");
  }, 60_000);

  test("running steps are shown, and Ctrl-C cancels the flow", async () => {
    using person = startSession(place, ["flow", "run", "u/admin/slow"]);
    await person.sees("● slow  bun script");
    person.types(CTRL_C);
    const { code, shown } = await person.ended();
    expect(code).toBe(130);
    const id = /svc job show (\S+)/.exec(shown)![1]!;
    const { out } = await place.svc(["job", "get", id, "--json"]);
    expect(JSON.parse(out)).toMatchObject({ type: "CompletedJob", canceled: true });
  }, 60_000);
});
