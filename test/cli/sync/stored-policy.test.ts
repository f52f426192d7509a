/** Apps of existing clients, whose policy is older than their code. */
import { expect, test } from "bun:test";
import { type Answer, expectOk, startTestServer } from "../../support/harness.ts";
import { createCliEnvironment } from "../program.ts";
import { writeFiles } from "./sync-files.ts";

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const OLD = "export const main = () => 1;\n";
const CODE = "export const main = (n: number) => n + 1;\n";
const NEW = "export const main = () => 3;\n";

const component = (id: string, file: string, fields = "{}") => `
    - data:
        id: ${id}
        type: displaycomponent
        componentInput:
          type: runnable
          fields: ${fields}
          runnable:
            type: runnableByName
            name: ${id}
            inlineScript: { language: bun, content: '!inline ${file}' }`;

/**
 * A folder and its server. Results of components are requested by the page's viewer, who chooses all arguments.
 */
async function board(files: Record<string, string>, by: (app: Board) => Promise<void>): Promise<void> {
  using place = createCliEnvironment();
  await using server = await startTestServer();
  const { ask, token } = await server.workspace();
  const write = (changed: Record<string, string>) =>
    writeFiles(
      place.folder,
      Object.fromEntries(Object.entries(changed).map(([name, text]) => [`u/admin/board.app/${name}`, text])),
    );
  await write(files);
  const svc = (...words: string[]) =>
    place.svc([...words, "--url", server.url, "--token", token, "--workspace", "acme"]);
  const push = async () => {
    expect(await svc("push", "--yes")).toMatchObject({ code: 0 });
    for (const direction of ["push", "pull"])
      expect(await svc(direction)).toMatchObject({ code: 0, out: "nothing to change\n" });
  };
  const run = (id: string, content: string, args: object) => {
    const body = { component: id, args, raw_code: { content, language: "bun" } };
    return ask("POST", "/w/acme/apps_u/execute_component/u/admin/board", body);
  };
  const resultOf = async (started: Promise<Answer>) => {
    const uuid = (await expectOk(started)).text.trim();
    for (;;) {
      const path = `/w/acme/jobs_u/completed/get_result_maybe/${uuid}`;
      const { completed, result } = (await expectOk(ask("GET", path))).json();
      if (completed) return result;
    }
  };
  await by({ write, push, run, resultOf });
}

interface Board {
  write(files: Record<string, string>): Promise<void>;
  push(): Promise<void>;
  run(id: string, content: string, args: object): Promise<Answer>;
  resultOf(started: Promise<Answer>): Promise<unknown>;
}

test("a component whose code is newer than the policy runs it, with its fixed inputs", async () => {
  const files = {
    "app.yaml": `summary: Board
value:
  grid:${component("a", "a.inline_script.ts", "{ n: { type: static, value: 41 } }")}${component("b", "b.inline_script.ts")}
policy:
  execution_mode: publisher
  triggerables_v2:
    'a:rawscript/${sha256(OLD)}':
      static_inputs: { n: 41 }
      one_of_inputs: {}
      allow_user_resources: []
`,
    "a.inline_script.ts": CODE,
    "b.inline_script.ts": NEW,
  };
  await board(files, async ({ push, run, resultOf }) => {
    await push();
    expect(await resultOf(run("a", CODE, { n: 1 }))).toBe(42);
    expect(await resultOf(run("b", NEW, {}))).toBe(3);
    expect((await run("a", OLD, {})).status).toBe(403);
    expect((await run("b", CODE, {})).status).toBe(403);
  });
}, 60_000);

test.each([
  ["now", "triggerables_v2", `'a:rawscript/${sha256(CODE)}'`],
  ["before", "triggerables_v2", `'a:rawscript/${sha256(OLD)}'`],
  ["now", "triggerables", `'a:rawscript/${sha256(CODE)}'`],
  ["now", "triggerables", `'rawscript/${sha256(CODE)}'`],
])(
  "inputs fixed since the policy of the code of %s (%s, %s) cannot be set by the viewer",
  async (_, form, key) => {
    const app = (n: string) => `summary: Board
value:
  grid:${component("a", "a.inline_script.ts", `{ n: ${n}, free: { type: user, value: 0 } }`)}
policy:
  execution_mode: publisher
  ${form}:
    ${key}: ${
      form === "triggerables"
        ? "{ n: 1 }"
        : "{ static_inputs: { free: 1 }, one_of_inputs: { n: [1, 2] }, allow_user_resources: [n] }"
    }
`;
    const files = { "app.yaml": app("{ type: static, value: 41 }"), "a.inline_script.ts": CODE };
    await board(files, async ({ write, push, run, resultOf }) => {
      await push();
      expect(await resultOf(run("a", CODE, { n: 1 }))).toBe(42);
      await write({ "app.yaml": app("{ type: static, value: 9 }") });
      await push();
      expect(await resultOf(run("a", CODE, { n: 1 }))).toBe(10);
      expect(await resultOf(run("other", CODE, { n: 1 })).catch(() => "refused")).toBe("refused");
    });
  },
  60_000,
);
