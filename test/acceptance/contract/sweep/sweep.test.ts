/**
 * Every operation, called by everyone who must not profit from it, with paths and ids of another user's items.
 * No planted text is returned, nothing is changed, nobody gains access, nothing fails internally, and nothing
 * delays others. Calls are derived from the operations, so new ones are covered without a change here.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Operation } from "../../../../src/platform/http/operation.ts";
import { listParameterNames } from "../../../../src/platform/http/path-parameters.ts";
import { operations } from "../../../../src/server/features.ts";
import { startTestServer, type TestServer } from "../../../support/harness.ts";
import { longestPause, MAX_PAUSE_MS } from "../../../support/pause.ts";
import { type Caller, MEMBERS, OUTSIDERS, RESTRICTED, tokenOf } from "./callers.ts";
import { bodiesOf, queryOf, urlOf } from "./requests.ts";
import { createWorld, MISSING, PRIVATE, readWorld, SHARED, type World } from "./world.ts";

let server: TestServer;
let world: World;
let before: Record<string, unknown>;

beforeAll(async () => {
  server = await startTestServer({ anonymous_rate: 0, failed_auth_rate: 0 });
  world = await createWorld(server);
  before = await readWorld(world);
}, 60_000);
afterAll(() => server.stop());

/** Responses that stream as long as they are read end here. */
const LONGEST_MS = 10_000;

async function call(op: Operation, token: string | undefined, url: string, body: string | undefined) {
  const asked = fetch(server.url + url, {
    method: op.method,
    redirect: "manual",
    signal: AbortSignal.timeout(LONGEST_MS),
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const response = await asked.catch((cause: Error) => Response.json(cause.name, { status: 599 }));
  return {
    status: response.status,
    headers: JSON.stringify([...response.headers]),
    text: await response.text().catch((cause: Error) => cause.name),
  };
}

const ofWorkspace = (op: Operation) => listParameterNames(op.path).includes("workspace");
const INSTANCE: Operation["access"][] = ["user", "devops", "superAdmin"];

/** Returns what is wrong with a response to this caller, if anything. */
function faultOf(op: Operation, caller: Caller, answer: Awaited<ReturnType<typeof call>>) {
  const { status } = answer;
  const text = answer.headers + answer.text;
  const isMember = (MEMBERS as readonly string[]).includes(caller);
  if (status >= 500 && status !== 501) return `answers ${status}`;
  if (text.includes(PRIVATE)) return "gives the private canary away";
  if (!isMember && text.includes(SHARED)) return "gives the shared canary away";
  const isOutside = (OUTSIDERS as readonly string[]).includes(caller);
  const needsMember = ofWorkspace(op) && op.access !== "anyone" && !INSTANCE.includes(op.access);
  if (isOutside && needsMember && status !== 401 && status !== 403) return `lets ${caller} in: ${status}`;
  return undefined;
}

async function sweep(caller: Caller): Promise<string[]> {
  const faults: string[] = [];
  let token = await tokenOf(caller, server, world);
  const whole = token && (await whoami(token));
  for (const op of operations) {
    const url = urlOf(op, world.ids);
    for (const body of bodiesOf(op, world.ids)) {
      for (const query of new Set(["", queryOf(op, world.ids)])) {
        let answer!: Awaited<ReturnType<typeof call>>;
        const pause = await longestPause(async () => {
          answer = await call(op, token, url + query, body);
        });
        const held = pause > MAX_PAUSE_MS ? `holds the thread for ${Math.round(pause)} ms` : undefined;
        const fault = faultOf(op, caller, answer) ?? held;
        if (fault) faults.push(`${op.name} ${op.method} ${url}${query} ${body ?? ""}: ${fault}`);
        // The caller's own call may have ended their access: left the workspace, logged out.
        const mayEnd = op.method !== "GET" && answer.status < 300;
        if (mayEnd && token && (await whoami(token)) !== whole) token = await tokenOf(caller, server, world);
      }
    }
  }
  return faults;
}

/** Returns what `whoami` answers for a token, in the instance and in the workspace. */
async function whoami(token: string): Promise<string> {
  const ask = server.as(token);
  const answers = [await ask("GET", "/users/whoami"), await ask("GET", "/w/acme/users/whoami")];
  return answers.map(({ status }) => status).join();
}

test.each([...OUTSIDERS, ...RESTRICTED, ...MEMBERS])(
  "no data of others is returned to: %s",
  async (caller) => {
    expect(await sweep(caller)).toEqual([]);
    expect(await readWorld(world)).toEqual(before);
  },
  90_000,
);

test("planted data is returned to its owner", async () => {
  const given: string[] = [];
  for (const op of operations) {
    if (op.method !== "GET") continue;
    // Some of these end the caller's session.
    const { text: token } = await world.admin("POST", "/users/tokens/create", {});
    const answer = await call(op, token, urlOf(op, world.ids) + queryOf(op, world.ids), undefined);
    if (answer.text.includes(PRIVATE) || answer.text.includes(SHARED)) given.push(op.name);
  }
  expect(given.length).toBeGreaterThan(40);
}, 60_000);

/** Ids of nothing that exists. */
const nowhere = () => {
  const none = crypto.randomUUID();
  const ids = { id: none, job_id: none, flow_job_id: none, job_or_input_id: none };
  return { ...world.ids, ...ids, path: MISSING, hash: "0".repeat(64), version: "99999999" };
};

/** Removes the item's names from the response. */
function bare(text: string, ids: Record<string, string>): string {
  const named = [ids.path, ids.hash, ids.job_id, ids.flow_job_id, ids.job_or_input_id, ids.version];
  const whole = (name: string) => new RegExp(`(?<![\\w.-])${name}(?![\\w.-])`, "g");
  // The head of a page names no item, and its numbers are not versions.
  const body = text.replace(/<head>.*?<\/head>/s, "");
  const short = body.replace(/[0-9a-f]{8}(-[0-9a-f]{1,12}){4}/g, "…");
  return named.reduce<string>((rest, name) => rest.replace(whole(name!), "…"), short);
}

/** By the contract, these tell whether a path is taken to those who want to create an item there. */
const TELLS_EXISTENCE = /exists|is_owner/i;

test.each(["nobody", "outsider", ...MEMBERS, ...RESTRICTED] as const)(
  "hidden items get the same response as missing ones: %s",
  async (caller) => {
    const none = nowhere();
    let token = await tokenOf(caller, server, world);
    const whole = token && (await whoami(token));
    const faults: string[] = [];
    const named = /\{(path|hash|id|job_id|flow_job_id|job_or_input_id|version)\}/;
    for (const op of operations.filter(({ path }) => named.test(path) && !TELLS_EXISTENCE.test(path))) {
      const [there, missing] = [bodiesOf(op, world.ids), bodiesOf(op, none)];
      for (const at of there.keys()) {
        const hidden = await call(op, token, urlOf(op, world.ids), there[at]);
        const absent = await call(op, token, urlOf(op, none), missing[at]);
        const got = [hidden.status, bare(hidden.text, world.ids)].join(" ");
        const wanted = [absent.status, bare(absent.text, none)].join(" ");
        if (got !== wanted) faults.push(`${op.name}: ${got} / ${wanted}: ${there[at] ?? ""}`);
        if (op.method !== "GET" && token && (await whoami(token)) !== whole)
          token = await tokenOf(caller, server, world);
      }
    }
    expect(faults).toEqual([]);
  },
  60_000,
);
