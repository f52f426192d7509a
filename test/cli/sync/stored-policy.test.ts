/** Apps of existing clients, whose policy is older than their code. */
import { expect, test } from "bun:test";
import { type Answer, expectOk, startTestServer } from "../../support/harness.ts";
import { newPlace } from "../program.ts";
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

test("a component whose code is newer than the policy runs it, with its fixed inputs", async () => {
  using place = newPlace();
  await using server = await startTestServer();
  const { ask, token } = await server.workspace();
  await writeFiles(place.folder, {
    "u/admin/board.app/app.yaml": `summary: Board
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
    "u/admin/board.app/a.inline_script.ts": CODE,
    "u/admin/board.app/b.inline_script.ts": NEW,
  });
  const svc = (...words: string[]) =>
    place.svc([...words, "--url", server.url, "--token", token, "--workspace", "acme"]);
  expect(await svc("push", "--yes")).toMatchObject({ code: 0 });
  for (const direction of ["push", "pull"])
    expect(await svc(direction)).toMatchObject({ code: 0, out: "nothing to change\n" });
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
  expect(await resultOf(run("a", CODE, { n: 1 }))).toBe(42);
  expect(await resultOf(run("b", NEW, {}))).toBe(3);
  expect((await run("a", OLD, {})).status).toBe(403);
  expect((await run("b", CODE, {})).status).toBe(403);
}, 60_000);
