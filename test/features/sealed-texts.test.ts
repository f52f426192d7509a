/** What is sealed outside of variables follows the workspace's key: nothing that is to run still is lost with the old one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer, until } from "../harness.ts";

const SECRET = "what-the-old-key-sealed";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  const schema = { type: "object", properties: { x: { type: "string", format: "password" } } };
  await deploy(ask, "acme", "u/admin/tell", "export const main = (x: string) => [...x].reverse().join('')", {
    schema,
  });
  const variable = { path: "u/admin/secret", value: SECRET, is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", variable));
});
afterAll(() => server.stop());

let keys = 0;
/** Twice, so that no key that is remembered opens what stays behind. */
async function exchange(): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const new_key = `${++keys}`.padStart(64, "k");
    await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key }));
  }
}

const sealed = async () =>
  `$encrypted:${(await expectOk(ask("POST", "/w/acme/variables/encrypt", JSON.stringify(SECRET)))).text}`;
const ended = (id: string): Promise<any> =>
  until(async () => {
    const job = (await expectOk(ask("GET", `/w/acme/jobs_u/get/${id}`))).json();
    return job.type === "CompletedJob" ? job : undefined;
  }, "the job's end");
const start = async (path: string, args: object = {}) =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/${path}`, args))).text;
const resultOf = async (path: string, args: object = {}) => (await ended(await start(path, args))).result;

const TOLD = [...SECRET].reverse().join("");

test("a job that waits in the queue runs with its password after the key was exchanged", async () => {
  const id = await start("p/u/admin/tell?scheduled_in_secs=2", { x: SECRET });
  await exchange();
  expect((await ended(id)).result).toBe(TOLD);
});

test("a flow that waits for an approval goes on with what it has sealed", async () => {
  const script = (id: string, content: string, x?: string, more: object = {}) => ({
    id,
    value: {
      type: "rawscript",
      language: "bun",
      content,
      input_transforms: x === undefined ? {} : { x: { type: "javascript", expr: x } },
    },
    ...more,
  });
  const loop = {
    type: "forloopflow",
    iterator: { type: "javascript", expr: "[variable('u/admin/secret'), variable('u/admin/secret')]" },
    skip_failures: false,
    modules: [
      script("a", "export const main = () => 'asked'", undefined, { suspend: {} }),
      script("b", "export const main = (x: string) => x.length", "flow_input.iter.value"),
    ],
  };
  const flow = { path: "u/admin/waits", summary: "", value: { modules: [{ id: "l", value: loop }] } };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
  const id = await start("f/u/admin/waits");
  const asked = (iteration: number) =>
    until(async () => {
      const all = (await expectOk(ask("GET", "/w/acme/jobs/completed/list?per_page=100"))).json();
      const steps = all.filter((job: any) => job.is_flow_step && job.job_kind !== "flownode");
      return steps.length > iteration * 2 ? steps[0].id : undefined;
    }, "the step that asks");
  for (const iteration of [0, 1]) {
    const step = await asked(iteration);
    if (iteration === 0) await exchange();
    const links = (await expectOk(ask("GET", `/w/acme/jobs/resume_urls/${step}/1`))).json();
    await until(async () => {
      const answer = await fetch(links.resume, { method: "POST", body: "{}" });
      return answer.status === 201 || undefined;
    }, "the approval");
  }
  expect((await ended(id)).result).toEqual([SECRET.length, SECRET.length]);
});

test("schedules, saved inputs, flows and resources keep what `variables/encrypt` has sealed for them", async () => {
  const x = await sealed();
  const schedule = {
    path: "u/admin/yearly",
    schedule: "0 0 0 1 1 *",
    timezone: "UTC",
    script_path: "u/admin/tell",
    is_flow: false,
    args: { x },
    on_failure: "script/u/admin/tell",
    on_failure_extra_args: { x },
  };
  await expectOk(ask("POST", "/w/acme/schedules/create", schedule));
  const runnable = "runnable_id=u/admin/tell&runnable_type=ScriptPath";
  const input = { name: "kept", args: { x } };
  const saved = (await expectOk(ask("POST", `/w/acme/inputs/create?${runnable}`, input))).text;
  const step = {
    type: "script",
    path: "u/admin/tell",
    input_transforms: { x: { type: "static", value: x } },
  };
  const value = { modules: [{ id: "a", value: step }] };
  await expectOk(ask("POST", "/w/acme/flows/create", { path: "u/admin/static", summary: "", value }));
  const resource = { path: "u/admin/holds", value: { deep: [x] }, resource_type: "any" };
  await expectOk(ask("POST", "/w/acme/resources/create", resource));
  const content = "export const main = (r: any) => [...r.deep[0]].reverse().join('')";
  await deploy(ask, "acme", "u/admin/of_resource", content);

  await exchange();
  const kept = (await expectOk(ask("GET", "/w/acme/schedules/get/u/admin/yearly"))).json();
  const args = (await expectOk(ask("GET", `/w/acme/inputs/${saved}/args?input=true`))).json();
  for (const held of [kept.args, kept.on_failure_extra_args, args]) {
    expect(held.x).not.toBe(x);
    expect(await resultOf("p/u/admin/tell", held)).toBe(TOLD);
  }
  expect(await resultOf("f/u/admin/static")).toBe(TOLD);
  expect(await resultOf("p/u/admin/of_resource", { r: "$res:u/admin/holds" })).toBe(TOLD);
  expect(await resultOf("p/u/admin/tell", { x })).toMatchObject({
    error: { message: expect.stringContaining("was encrypted for somebody else") },
  });
});

test("skip_reencrypt leaves them as they are, as it does secrets", async () => {
  const x = await sealed();
  await expectOk(
    ask("POST", "/w/acme/resources/create", { path: "u/admin/left", value: { x }, resource_type: "any" }),
  );
  const { key } = (await expectOk(ask("GET", "/w/acme/workspaces/encryption_key"))).json();
  const body = { new_key: "s".repeat(64), skip_reencrypt: true };
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", body));
  expect((await expectOk(ask("GET", "/w/acme/resources/get_value/u/admin/left"))).json()).toEqual({ x });
  await expectOk(ask("POST", "/w/acme/workspaces/encryption_key", { new_key: key, skip_reencrypt: true }));
  expect(await resultOf("p/u/admin/tell", { x })).toBe(TOLD);
});
