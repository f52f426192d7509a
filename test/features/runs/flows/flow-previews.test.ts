/**
 * Flows that are not deployed: run as given and validated like deployed ones; and what steps know of their
 * place.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/custom_tags", { value: ["heavy"] }));
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs, ...more },
});
const double = script("a", "export const main = (n: number) => n * 2", { n: js("flow_input.n") });
const previewed = (modules: object[], more: object = {}) => ({ value: { modules }, args: { n: 4 }, ...more });
const waitResult = (body: object, as = ask) => as("POST", `${jobs}/run_wait_result/preview_flow`, body);

describe("an undeployed flow", () => {
  test("runs from its job's row", async () => {
    const body = previewed([double], { path: "u/admin/tried", tag: "heavy" });
    const started = await expectOk(ask("POST", `${jobs}/run/preview_flow`, body));
    expect(started.status).toBe(201);
    const job: any = await until(async () => {
      const answer = await ask("GET", `${jobs}_u/completed/get/${started.text}`);
      return answer.status === 200 ? answer.json() : undefined;
    });
    expect(job).toMatchObject({
      job_kind: "flowpreview",
      success: true,
      result: 8,
      args: { n: 4 },
      tag: "heavy",
      script_path: "u/admin/tried",
      raw_flow: { modules: [{ id: "a" }] },
      flow_status: { modules: [{ type: "Success", id: "a" }] },
    });
  });

  test("returns its result, of loops and branches too", async () => {
    const loop = {
      id: "l",
      value: {
        type: "forloopflow",
        iterator: js("[1, 2]"),
        skip_failures: false,
        modules: [
          script("x", "export const main = (n: number) => n + 1", { n: js("flow_input.iter.value") }),
          script("y", "export const main = (n: number) => n * 10", { n: js("results.x") }),
        ],
      },
    };
    const answer = await waitResult(previewed([loop]));
    expect([answer.status, answer.json()]).toEqual([200, [20, 30]]);
    const failing = await waitResult(
      previewed([script("a", "export const main = () => { throw new Error('no') }")]),
    );
    expect(failing.json().error).toMatchObject({ message: "no", step_id: "a" });
  });

  test("is rejected if malformed, and otherwise fails at a step that cannot run", async () => {
    const answer = await waitResult(previewed([double, double]));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("there is a step a already")]);
    const cases: [modules: object[], says: string][] = [
      [[script("a", "export const main = () => 1", { x: js("1 +") })], "input x: "],
      [[script("a", "export const = 1")], "line 1, column 14"],
      [[{ id: "a", value: { type: "nonsense" } }], "nonsense"],
    ];
    for (const [modules, says] of cases) {
      const failed = await waitResult(previewed(modules));
      expect([failed.status, failed.json().error]).toEqual([
        200,
        expect.objectContaining({ message: expect.stringContaining(says), step_id: "a" }),
      ]);
    }
  });

  test("is rejected for operators", async () => {
    const operator = await server.member("acme", "olga", "operator");
    expect((await waitResult(previewed([double]), operator.ask)).status).toBe(403);
    expect((await operator.ask("POST", `${jobs}/run/preview_flow`, previewed([double]))).status).toBe(403);
  });

  test("has its scripts' dependencies resolved when it runs", async () => {
    const content = `import missing from "@svc-no-such-scope/no-such-package"; export const main = () => missing`;
    const { error } = (await waitResult(previewed([script("a", content)]))).json();
    // Without a lock the import itself would fail, with another error name.
    expect(error).toMatchObject({ name: "DependencyError", step_id: "a" });
  });
});

describe("steps know their position in the flow", () => {
  const names = [
    "FLOW_JOB_ID",
    "ROOT_FLOW_JOB_ID",
    "FLOW_PATH",
    "FLOW_STEP_ID",
    "STATE_PATH",
    "STATE_PATH_NEW",
  ];
  const tells = `export const main = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("WM_")))`;
  const told = (found: Record<string, string>) => names.map((name) => found[`WM_${name}`]);

  test("in a deployed flow, in loops of it, and outside of flows", async () => {
    const path = "u/admin/telling";
    const iterations = (id: string, modules: object[]) => ({
      id,
      value: { type: "forloopflow", iterator: js("[1]"), skip_failures: false, modules },
    });
    const value = {
      modules: [
        script("a", tells),
        iterations("l", [script("b", tells)]),
        iterations("m", [script("c", tells), script("d", tells)]),
        script("all", "export const main = (all: unknown) => all", { all: js("results") }),
      ],
    };
    await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value }));
    const { text: id } = await expectOk(ask("POST", `${jobs}/run/f/${path}`, {}));
    const { a, l, m }: any = await until(async () => {
      const answer = await ask("GET", `${jobs}_u/completed/get_result/${id}`);
      return answer.status === 200 ? answer.json() : undefined;
    });
    const state = (step: string) => `${path}/${step}_user`;
    expect(told(a)).toEqual([id, id, path, "a", state("a"), state("a")]);
    expect(told(l[0])).toEqual([id, id, path, "b", state("b"), state("b")]);
    const [frame] = (await ask("GET", `${jobs}/list?parent_job=${id}&job_kinds=flownode`)).json();
    expect(told(m[0])).toEqual([frame.id, id, path, "d", state("d"), state("d")]);
    expect(a.WM_OBJECT_PATH).toMatch(new RegExp(`^u_admin_telling/manual/a/\\d+_${a.WM_JOB_ID}$`));
    expect(a.WM_ROOT_JOB_ID).toBe(id);
  });

  test("in an undeployed one, with a path and without", async () => {
    const modules = [script("a", tells)];
    const at = (await waitResult(previewed(modules, { path: "u/admin/later" }))).json();
    expect([at.WM_FLOW_PATH, at.WM_FLOW_STEP_ID, at.WM_STATE_PATH]).toEqual([
      "u/admin/later",
      "a",
      "u/admin/later/a_user",
    ]);
    const nowhere = (await waitResult(previewed(modules))).json();
    expect([nowhere.WM_FLOW_PATH, nowhere.WM_STATE_PATH]).toEqual(["", "u/admin/tmp_state"]);
    expect(nowhere.WM_OBJECT_PATH).toStartWith("preview/manual/a/");
    const body = { content: tells, language: "bun" };
    const alone = (await ask("POST", `${jobs}/run_wait_result/preview`, body)).json();
    expect(told(alone)).toEqual(["", "", "", "", "u/admin/tmp_state", "u/admin/tmp_state"]);
  });
});
