/** Clients that poll for a result read the same four fields of every job. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  const content = `export async function main(what: string) {
    if (what === "fail") throw new Error("on purpose");
    if (what === "wait") await Bun.sleep(60_000);
  }`;
  await deploy(ask, "acme", "u/admin/job", content, { language: "bun" });
});
afterAll(() => server.stop());

const start = async (what: string, query = "") =>
  (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/admin/job${query}`, { what }))).text;
const read = async (id: string, query = "", prefix = "jobs_u") =>
  (await expectOk(ask("GET", `/w/acme/${prefix}/completed/get_result_maybe/${id}${query}`))).json();
/** Reads the state of a job in which nothing is about to change, by both addresses. */
const stateOf = async (id: string, query = "") => {
  const state = await read(id, query);
  expect(await read(id, query, "jobs")).toEqual(state);
  return state;
};

test("every state has the fields", async () => {
  const pending = { completed: false, result: null, success: null };
  const queued = await start("later", "?scheduled_in_secs=3600");
  expect(await stateOf(queued)).toEqual({ ...pending, started: null });
  expect(await stateOf(queued, "?get_started=true")).toEqual({ ...pending, started: false });

  const running = await start("wait");
  await until(async () => (await read(running, "?get_started=true")).started, "the start");
  expect(await stateOf(running)).toEqual({ ...pending, started: null });
  expect(await stateOf(running, "?get_started=true")).toEqual({ ...pending, started: true });

  const completed = async (id: string) => {
    await until(async () => (await read(id)).completed, "the end");
    return stateOf(id, "?get_started=true");
  };
  expect(await completed(await start("end"))).toEqual({
    completed: true,
    result: null,
    success: true,
    started: true,
  });
  const failed = await completed(await start("fail"));
  expect(failed.result.error.message).toBe("on purpose");
  expect({ ...failed, result: null }).toEqual({
    completed: true,
    result: null,
    success: false,
    started: true,
  });
  await expectOk(ask("POST", `/w/acme/jobs_u/queue/cancel/${running}`, { reason: "enough" }));
  const canceled = await completed(running);
  expect({ ...canceled, result: null }).toEqual({
    completed: true,
    result: null,
    success: false,
    started: true,
  });

  expect(await stateOf(crypto.randomUUID())).toEqual({ ...pending, started: null });
});
