/** Shared folder of a flow's steps during the run, and cleanup after its end. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer({ workers: 2 });
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const js = (expr: string) => ({ type: "javascript", expr });
const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
async function ran(value: object, args: object = {}): Promise<any> {
  const started = await expectOk(ask("POST", `${jobs}/run/preview_flow`, { value, args }));
  return until(async () => {
    const answer = await ask("GET", `${jobs}_u/completed/get/${started.text}`);
    return answer.status === 200 ? answer.json() : undefined;
  });
}

const writes = script("a", "export const main = (text: string) => Bun.write('shared/note.txt', text)", {
  text: js("flow_input.text"),
});
const reads = {
  id: "b",
  value: { type: "rawscript", language: "bash", content: "ls; cat shared/note.txt", input_transforms: {} },
};

test("steps of a same_worker flow share a folder, one for each run", async () => {
  const value = { modules: [writes, reads], same_worker: true };
  const [one, two] = await Promise.all([ran(value, { text: "one" }), ran(value, { text: "two" })]);
  expect([one.result, two.result]).toEqual(["one", "two"]);
  const folder = join(server.data_dir, "runner", "shared");
  await until(() => (readdirSync(folder).length === 0 ? true : undefined), "the folders to be removed");
  // The same processes, for a flow whose steps share no folder.
  const alone = "export const main = () => require('node:fs').existsSync('shared')";
  const check = (same_worker: boolean) => ran({ modules: [script("a", alone)], same_worker });
  expect((await check(true)).result).toBe(true);
  expect((await check(false)).result).toBe(false);
});

test("all of many parallel steps run on this server", async () => {
  const loop = {
    id: "l",
    value: {
      type: "forloopflow",
      iterator: js("Array.from({ length: 10 }, (_, i) => i)"),
      skip_failures: false,
      parallel: true,
      modules: [
        script("x", "export const main = (n: number) => Bun.write('shared/' + n, '')", {
          n: js("flow_input.iter.value"),
        }),
      ],
    },
  };
  const counts = script("c", "export const main = () => require('node:fs').readdirSync('shared').length");
  expect((await ran({ modules: [loop, counts], same_worker: true })).result).toBe(10);
});

test("a step with delete_after_use leaves neither arguments, result nor log", async () => {
  const secret = script(
    "a",
    "export const main = (v: string) => { console.log('said', v); return 'made ' + v }",
    { v: js("flow_input.v") },
    { delete_after_use: true },
  );
  const inner = script("x", secret.value.content, { v: js("flow_input.v") }, { delete_after_use: true });
  const loop = (id: string, modules: object[]) => ({
    id,
    value: { type: "forloopflow", iterator: js("[1, 2]"), skip_failures: false, modules },
  });
  const modules = [
    secret,
    loop("l", [inner]),
    loop("m", [{ ...inner, id: "y" }, script("z", "export const main = () => 1")]),
    script("last", "export const main = (a: string, l: string[]) => [a.length, l.length]", {
      a: js("results.a"),
      l: js("results.l"),
    }),
  ];
  const job = await ran({ modules }, { v: "hush" });
  expect(job.result).toEqual([9, 2]);
  const all = [];
  for (const id of [job.id, ...(await idsBelow(job.id))]) {
    all.push((await ask("GET", `${jobs}_u/get/${id}`)).json());
  }
  const steps = all.filter(({ language, id }) => language && id !== job.id);
  const gone = steps.filter(({ deleted }) => deleted);
  expect(gone.map(({ args, result, logs }) => [args, result, logs])).toEqual(Array(5).fill([{}, {}, ""]));
  expect(steps).toHaveLength(8);
  expect((await ask("POST", `${jobs}/restart/f/${job.id}/from/last`, {})).status).toBe(400);
});

async function idsBelow(id: string): Promise<string[]> {
  const found: { id: string }[] = (await ask("GET", `${jobs}/list?parent_job=${id}`)).json();
  const inner = await Promise.all(found.map((each) => idsBelow(each.id)));
  return [...found.map((each) => each.id), ...inner.flat()];
}
