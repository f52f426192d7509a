/**
 * Every declared operation, called with inputs generated from its declaration: none fails on the server's side,
 * and none delays others. `HOSTILE_RUNS` sets the number of calls of each, `HOSTILE_SEED` which.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Operation } from "../../../../src/platform/http/operation.ts";
import { operations } from "../../../../src/server/features.ts";
import { deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { longestPause, MAX_PAUSE_MS } from "../../../support/pause.ts";
import { type HostileCall, hostileCalls } from "./hostile-values.ts";

const RUNS = Number(process.env.HOSTILE_RUNS ?? 8);
const SEED = Number(process.env.HOSTILE_SEED ?? 20_261_122);
/** Longest time until a response begins. */
const ANSWER_MS = 15_000;

let server: TestServer;
/** The workspace that is called; replaced once a call has ended it. */
let workspace = "";
let workspaces = 0;

beforeAll(async () => {
  server = await startTestServer();
  await prepare();
}, 60_000);
afterAll(() => server.stop());

/** Creates a workspace with items of the names that the calls use. */
async function prepare(): Promise<void> {
  workspace = `acme${++workspaces}`;
  const { ask } = await server.workspace(workspace);
  const below = `/w/${workspace}`;
  await deploy(ask, workspace, "u/admin/echo", "export const main = (x: unknown) => x ?? null");
  const script = { type: "script", path: "u/admin/echo", input_transforms: {} };
  const value = { modules: [{ id: "a", value: script }] };
  await expectOk(
    ask("POST", `${below}/flows/create`, { path: "u/admin/flow", summary: "", value, schema: {} }),
  );
  const variable = { path: "u/admin/thing", value: "1", is_secret: false, description: "" };
  await expectOk(ask("POST", `${below}/variables/create`, variable));
  const resource = { path: "u/admin/thing", value: { a: 1 }, resource_type: "any" };
  await expectOk(ask("POST", `${below}/resources/create`, resource));
}

/** A separate account per operation, because some operations end the caller's. */
let accounts = 0;
async function newToken(): Promise<string> {
  const email = `caller${++accounts}@example.org`;
  const create = {
    email,
    password: "long-enough-password",
    super_admin: true,
    username: `caller${accounts}`,
  };
  await expectOk(server.operator("POST", "/users/create", create));
  return (await expectOk(server.operator("POST", "/users/tokens/impersonate", { impersonate_email: email })))
    .text;
}

interface Told {
  status: number;
  error: string;
  text: string;
}

async function send({ op, path, body, type }: HostileCall, token: string | undefined): Promise<Told> {
  const init: RequestInit = {
    method: op.method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(type ? { "content-type": type } : {}),
    },
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_MS),
    ...(body === undefined ? {} : { body }),
  };
  const response = await fetch(server.url + path, init);
  const error = response.headers.get("svc-error") ?? "";
  const text = response.status >= 500 ? await response.text() : "";
  await response.body?.cancel().catch(() => {});
  return { status: response.status, error, text };
}

function shown({ op, path, body, type }: HostileCall): string {
  const text = typeof body === "string" ? body : body ? `${body.length} bytes` : "";
  return `${op.name}: ${op.method} ${path.slice(0, 300)} ${type} ${text.slice(0, 500)}`;
}

async function faultsOf(op: Operation): Promise<string[]> {
  const token = await newToken();
  const faults: string[] = [];
  const calls = hostileCalls(op, workspace, { count: RUNS, seed: SEED });
  for (const [at, call] of calls.entries()) {
    // Every fourth call is anonymous.
    const caller = at % 4 === 3 ? undefined : token;
    const pause = await longestPause(async () => {
      const told = await send(call, caller).catch((cause) => ({ status: 0, error: String(cause), text: "" }));
      if (told.status === 0 || told.status >= 500) {
        faults.push(`${told.status} ${told.error} ${told.text.slice(0, 300)} of ${shown(call)}`);
      }
    });
    if (pause > MAX_PAUSE_MS)
      faults.push(`the thread was held for ${Math.round(pause)} ms by ${shown(call)}`);
  }
  return faults;
}

test(
  "no operation fails with a server error or blocks the thread, whatever it receives",
  async () => {
    const faults: string[] = [];
    for (const op of operations) {
      faults.push(...(await faultsOf(op)));
      const alive = await server.operator("GET", `/w/${workspace}/scripts/exists/p/u/admin/echo`);
      if (alive.text !== "true") await prepare();
    }
    expect(faults).toEqual([]);
  },
  RUNS * 30_000,
);
