/** A server, flows of a few steps that wait when a test wants, and the outcomes of their jobs. */
import { afterAll, beforeAll } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { and, eq, ne } from "drizzle-orm";
import { jobs as jobTable } from "../../../src/platform/queue/tables.ts";
import {
  type Ask,
  createTemporaryFolder,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
let folder: string;

export const jobs = "/w/acme/jobs";
export const js = (expr: string) => ({ type: "javascript", expr });
export const createStaticInput = (value: unknown) => ({ type: "static", value });
export const script = (id: string, content: string, inputs: object = {}, more: object = {}) => ({
  id,
  value: { type: "rawscript", language: "bun", content, input_transforms: inputs },
  ...more,
});
export const identity = (id: string) => ({ id, value: { type: "identity" } });
export const loop = (id: string, modules: object[], more: object = {}) => ({
  id,
  value: { type: "forloopflow", iterator: js("flow_input.items"), skip_failures: false, modules, ...more },
});
export const createSquareStep = (id: string) =>
  script(id, "export const main = (v: number) => v * v", { v: js("flow_input.iter.value") });
export const SQUARE_STEP = createSquareStep("i");
export const listNumbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A step that waits for a file. */
export const gate = (id: string) =>
  script(
    id,
    "export async function main(file: string) { while (!(await Bun.file(file).exists())) await Bun.sleep(5); return 'through' }",
    { file: js("flow_input.file") },
  );
let gates = 0;
export const createGate = () => join(folder, `gate-${++gates}`);

export let count = 0;
export async function push(modules: object[], more: object = {}, as = ask): Promise<string> {
  const path = `u/admin/flow_${++count}`;
  await expectOk(as("POST", "/w/acme/flows/create", { path, summary: "", value: { modules, ...more } }));
  return path;
}
export async function start(path: string, args: object = {}, query = "", as = ask): Promise<string> {
  return (await expectOk(as("POST", `${jobs}/run/f/${path}${query}`, args))).text;
}

export const ended = (id: string, as = ask): Promise<any> =>
  until(async () => {
    const answer = await as("GET", `${jobs}_u/completed/get/${id}`);
    return answer.status === 200 ? answer.json() : undefined;
  }, `the end of ${id}`);
export const childOf = (id: string, step: string): Promise<string> =>
  until(async () => {
    const [row] = await server.server.app.db.read
      .select({ id: jobTable.id })
      .from(jobTable)
      .where(
        and(eq(jobTable.parent_job, id), eq(jobTable.flow_step_id, step), eq(jobTable.state, "running")),
      );
    return row?.id;
  }, `a running job of step ${step}`);
export const unfinished = async (root: string) =>
  (
    await server.server.app.db.read
      .select({ id: jobTable.id, kind: jobTable.kind, state: jobTable.state })
      .from(jobTable)
      .where(and(eq(jobTable.root_job, root), ne(jobTable.state, "completed")))
  ).length;

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpFlowLife(): void {
  folder = createTemporaryFolder("svc-flow-life-");
  beforeAll(async () => {
    server = await startTestServer({ workers: 4 });
    ({ ask } = await server.workspace());
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}
