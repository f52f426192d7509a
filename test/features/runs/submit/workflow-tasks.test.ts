/** Workflows as code: functions of a running job's code, each run as a child job. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const jobs = "/w/acme/jobs";

/** Source of the client's `task` function. */
const TASK = `
const call = async (name: string, args: object) => {
  const base = process.env.BASE_INTERNAL_URL + "/api/w/" + process.env.WM_WORKSPACE;
  const headers = { authorization: "Bearer " + process.env.WM_TOKEN, "content-type": "application/json" };
  const body = JSON.stringify({ args });
  const url = base + "/jobs/run/workflow_as_code/" + process.env.WM_JOB_ID + "/" + name;
  const answer = await fetch(url, { method: "POST", headers, body });
  const text = await answer.text();
  if (!answer.ok) return { status: answer.status, text };
  for (;;) {
    const found = await (await fetch(base + "/jobs_u/completed/get_result_maybe/" + text, { headers })).json();
    if (found.completed) return { id: text, result: found.result };
  }
};
`;
const SCRIPT = `${TASK}
export function area(width: number, height = 2) { return { width, height, job: process.env.WM_JOB_ID }; }
export const later = async (when: Date) => when.getTime();
function hidden() { return 1; }
export async function main(name: string, args: object) { return call(name, args); }
`;

const run = async (name: string, args: object) =>
  (await ask("POST", `${jobs}/run_wait_result/p/u/admin/tasks`, { name, args })).json();

test("a named function runs as a child job with its own parameters", async () => {
  await deploy(ask, "acme", "u/admin/tasks", SCRIPT);
  const { id, result } = await run("area", { height: 5, width: 3 });
  expect(result).toEqual({ width: 3, height: 5, job: id });
  expect((await run("area", { width: 3 })).result.height).toBe(2);
  expect((await run("later", { when: "2030-01-01T00:00:00Z" })).result).toBe(Date.UTC(2030, 0));
  const job = (await ask("GET", `${jobs}_u/get/${id}`)).json();
  expect(job).toMatchObject({
    job_kind: "script",
    script_path: "u/admin/tasks",
    args: { width: 3, height: 5, _ENTRYPOINT_OVERRIDE: "area" },
  });
  expect((await ask("GET", `${jobs}_u/get/${job.parent_job}`)).json()).toMatchObject({ job_kind: "script" });
});

test("of undeployed code, in Python too, by the shorter path", async () => {
  const body = { content: SCRIPT, language: "bun", args: { name: "area", args: { width: 1 } } };
  const { result } = (await ask("POST", `${jobs}/run_wait_result/preview`, body)).json();
  expect(result).toMatchObject({ width: 1, height: 2 });
  const python = `
import json, os, urllib.request
from datetime import datetime
def send(url, data=None):
    headers = {"authorization": "Bearer " + os.environ["WM_TOKEN"], "content-type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(url, data, headers)).read().decode()
def year(when: datetime, add: int = 1):
    return when.year + add
def main():
    base = os.environ["BASE_INTERNAL_URL"] + "/api/w/" + os.environ["WM_WORKSPACE"]
    data = json.dumps({"args": {"when": "2030-01-01T00:00:00"}}).encode()
    id = send(base + "/jobs/workflow_as_code/" + os.environ["WM_JOB_ID"] + "/year", data)
    while True:
        found = json.loads(send(base + "/jobs_u/completed/get_result_maybe/" + id))
        if found["completed"]:
            return found["result"]
`;
  const answer = await ask("POST", `${jobs}/run_wait_result/preview`, {
    content: python,
    language: "python3",
  });
  expect(answer.json()).toBe(2031);
});

test("functions that are not exported, and callers other than the job itself, are rejected", async () => {
  for (const name of ["hidden", "nothing"]) {
    const answer = await run(name, {});
    expect(answer).toEqual({ status: 400, text: expect.stringContaining(`exports no function \`${name}\``) });
  }
  const { id } = await run("area", { width: 1 });
  expect((await ask("POST", `${jobs}/run/workflow_as_code/${id}/area`, { args: {} })).status).toBe(403);
  // An argument with that name is an ordinary argument.
  const plain = { name: "area", args: { width: 9 }, _ENTRYPOINT_OVERRIDE: "area" };
  const answer = (await ask("POST", `${jobs}/run_wait_result/p/u/admin/tasks`, plain)).json();
  expect(answer.result.width).toBe(9);
});
