/** Control keys with invalid values, and the response to the caller of a run that reports a failure. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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
  await deploy(ask, "acme", "u/admin/says", "export const main = (said: object) => said");
  const value = { modules: [{ id: "a", value: { type: "identity" } }] };
  const path = "u/admin/flow";
  await ask("POST", "/w/acme/flows/create", { path, summary: "", value });
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";
const run = (said: object, query = "") =>
  ask("POST", `${jobs}/run_wait_result/p/u/admin/says${query}`, { said });

describe("a value of the wrong type", () => {
  test.each([
    [{ wm_failure: true }, "wm_failure of the result must be a string, and is a boolean"],
    [{ svc_failure: { message: "no" } }, "svc_failure of the result must be a string"],
    [{ wm_status_code: "404", result: 1 }, "wm_status_code of the result must be a number, and is a string"],
    [{ windmill_content_type: 5, result: 1 }, "windmill_content_type of the result must be a string"],
    [{ wm_headers: "x", result: 1 }, "wm_headers of the result must be an object of strings"],
    [{ wm_headers: { "x-n": 1 }, result: 1 }, "wm_headers of the result must be an object of strings"],
    [{ wm_headers: ["x"] }, "must be an object of strings, and is an array"],
    [{ wm_content_transfer_encoding: true, result: "" }, "must be a string, and is a boolean"],
  ])("%j is an error of the run, which names it", async (said, message) => {
    const answer = await run(said);
    expect(answer.status).toBe(200);
    expect(answer.json().error).toEqual({
      name: "InvalidControlKey",
      message: expect.stringContaining(message),
    });
    const id = (await ask("POST", `${jobs}/run/p/u/admin/says`, { said })).text;
    const job: any = await until(async () => {
      const got = (await ask("GET", `${jobs}_u/get/${id}`)).json();
      return got.type === "CompletedJob" ? got : undefined;
    }, "the end");
    expect([job.success, job.result.error.name]).toEqual([false, "InvalidControlKey"]);
  });

  test("null counts as absent, and the same keys deeper in the result are ordinary ones", async () => {
    for (const said of [{ wm_failure: null, a: 1 }, { inner: { wm_failure: true } }]) {
      const answer = await run(said);
      expect([answer.status, answer.json()]).toEqual([200, said]);
    }
  });

  test("an invalid key that a flow takes from its input is reported, and not used for the response", async () => {
    const answer = await ask("POST", `${jobs}/run_wait_result/f/u/admin/flow`, { wm_status_code: "404" });
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining("must be a number")]);
  });
});

describe("a run that reports a failure", () => {
  const error = { error: { name: "Error", message: "no tea" } };
  test("responds with the reason if it returns no result", async () => {
    expect([await run({ wm_failure: "no tea" })].map(({ status, text }) => [status, text])).toEqual([
      [200, JSON.stringify(error)],
    ]);
    const strict = await run({ wm_failure: "no tea" }, "?error_status=true");
    expect([strict.status, strict.json()]).toEqual([500, error]);
    const set = (value: boolean | null) =>
      expectOk(server.operator("POST", "/settings/global/error_status", { value }));
    await set(true);
    const statuses = [
      await run({ wm_failure: "no tea" }),
      await run({ wm_failure: "no tea" }, "?error_status=false"),
    ];
    expect(statuses.map(({ status }) => status)).toEqual([500, 200]);
    await set(null);
    const coded = await run({ wm_failure: "no tea", wm_status_code: 418 });
    expect([coded.status, coded.json()]).toEqual([418, error]);
  });

  test("responds with its result if it returns one", async () => {
    const answer = await run({ wm_failure: "no tea", wm_status_code: 418, result: "short" });
    expect([answer.status, answer.text]).toEqual([418, "short"]);
  });
});
