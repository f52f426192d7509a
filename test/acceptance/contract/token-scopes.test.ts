/**
 * Scopes of tokens. Every operation is called with a token for each domain and action, all of one super
 * admin, so that only the scopes decide. The expected results follow from method and path; exceptions are
 * listed below with reasons.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { recordAudit } from "../../../src/features/signals/audit/service.ts";
import { resolveMember } from "../../../src/features/tenancy/people/members.ts";
import { requireScope } from "../../../src/features/tenancy/tokens/scopes.ts";
import { resolveToken } from "../../../src/features/tenancy/tokens/service.ts";
import { Forbidden } from "../../../src/lib/errors.ts";
import type { Identity } from "../../../src/platform/app/context.ts";
import {
  getBasePath,
  getRequiredScope,
  type Operation,
  responds,
} from "../../../src/platform/http/operation.ts";
import { mountOperations } from "../../../src/platform/http/server.ts";
import { operations } from "../../../src/server/features.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import {
  DOMAINS,
  EXEMPT_OPERATIONS,
  expectedScope,
  listGrantingScopes,
  OWN_DOMAINS,
  SCOPES,
} from "./token-scope-cases.ts";

let server: TestServer;
let ask: Ask;
let root: Ask;
let guard: { fetch: (request: Request) => Response | Promise<Response> };
const tokens = new Map<string, string>();

const tokenFor = async (scopes: string[]) =>
  (await expectOk(root("POST", "/users/tokens/create", { scopes }))).text;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  root = (await server.user("root", { super_admin: true })).ask;
  for (const scope of SCOPES) tokens.set(scope, await tokenFor([scope]));
  const bare = operations.map(
    (op): Operation => ({
      ...op,
      query: undefined,
      body: undefined,
      responds: responds.text("let in"),
      run: () => "let in",
    }),
  );
  guard = mountOperations(
    server.server.app,
    { resolveToken, resolveMember, checkScopes: requireScope, recordAudit },
    bare,
  );
});
afterAll(() => server.stop());

async function isLetIn(op: Operation, token: string): Promise<boolean> {
  const path = op.path
    .replace("{workspace}", "acme")
    .replace(/\{(\w+_)?path\}/, "u/dev/this")
    .replace(/\{\w+\}/g, "this");
  const answer = await guard.fetch(
    new Request(`http://localhost${getBasePath(op)}${path}`, {
      method: op.method,
      headers: { authorization: `Bearer ${token}` },
    }),
  );
  const text = await answer.text();
  if (text !== "let in") expect([op.name, answer.status, text]).toEqual([op.name, 403, expect.any(String)]);
  return text === "let in";
}

/** Whether a token with the scope may call the operation, with the paths that `isLetIn` uses. */
function grants(scope: string, op: Operation): boolean {
  const needed = getRequiredScope(op);
  if (!needed) return true;
  const resource = needed.resource && (needed.resource.endsWith("path") ? "u/dev/this" : "this");
  try {
    requireScope({ token: { scopes: [scope] } } as unknown as Identity, needed, resource);
    return true;
  } catch (cause) {
    if (!(cause instanceof Forbidden)) throw cause;
    return false;
  }
}

const restricted = operations
  .filter((op) => !EXEMPT_OPERATIONS.has(op.name))
  .map((op) => [op.name, op] as const);

describe("every operation", () => {
  test("belongs to a scope domain, or is exempted with a reason", () => {
    const known = new Set([...DOMAINS, ...Object.keys(OWN_DOMAINS)]);
    for (const [name, op] of restricted) {
      const scope = getRequiredScope(op);
      expect([name, scope && known.has(scope.domain) && scope.domain]).toEqual([
        name,
        expectedScope(op).domain,
      ]);
    }
    const free = operations.filter((op) => getRequiredScope(op) === false).map(({ name }) => name);
    expect(free.filter((name) => !EXEMPT_OPERATIONS.has(name))).toEqual([]);
  });

  test.each(restricted)("%s accepts the scopes that method and path imply, and no others", async (_, op) => {
    const granting = SCOPES.filter((scope) => grants(scope, op));
    expect(granting.sort()).toEqual(listGrantingScopes(op).sort());
    // The operation asks for exactly these: one of each is tried.
    const others = SCOPES.filter((scope) => !granting.includes(scope));
    const pick = (scopes: string[]) => tokens.get(scopes[operations.indexOf(op) % scopes.length]!)!;
    expect([await isLetIn(op, pick(granting)), await isLetIn(op, pick(others))]).toEqual([true, false]);
  });

  test("with a resource in its path accepts a token for that resource, and none for another", async () => {
    const named = operations.filter((op) => {
      const scope = getRequiredScope(op);
      return scope && scope.resource !== undefined;
    });
    expect(named.length).toBeGreaterThan(50);
    for (const op of named) {
      const { domain, action } = expectedScope(op);
      const scopes = (what: string) => [
        `${domain}:${action}:u/${what}/this,${what}`,
        `${domain}:${action}:u/${what}/*`,
      ];
      const right = await tokenFor(scopes("dev").map((scope) => scope.replace(/,dev$/, ",this")));
      const wrong = await tokenFor(scopes("other"));
      expect([op.name, await isLetIn(op, right), await isLetIn(op, wrong)]).toEqual([op.name, true, false]);
    }
  });

  test("without a resource in its path accepts no token restricted to a resource", async () => {
    for (const [name, op] of restricted) {
      const scope = getRequiredScope(op);
      if (!scope || scope.resource !== undefined) continue;
      const token = await tokenFor([`${scope.domain}:write:u/dev/this,this`]);
      expect([name, await isLetIn(op, token)]).toEqual([name, false]);
    }
  });
});

test("the list of scopes is complete, and each can be given to a token", async () => {
  const listed: any[] = (await expectOk(ask("GET", "/tokens/list/scopes"))).json();
  const domains = new Set(restricted.map(([, op]) => expectedScope(op).domain));
  expect(listed.map(({ name }) => name)).toEqual([...domains].sort());
  const values = listed.flatMap(({ scopes }) => scopes.map(({ value }: any) => value));
  expect(values).toContain("jobs:run:scripts");
  for (const value of values) {
    await tokenFor([value]);
    await tokenFor([`${value}:u/dev/this`.replace("jobs:run:u", "jobs:run:scripts:u")]);
  }
  const variables = listed.find(({ name }) => name === "variables");
  expect(variables.scopes).toEqual([
    { value: "variables:read", label: "variables: read", requires_resource_path: true },
    { value: "variables:write", label: "variables: read and change", requires_resource_path: true },
  ]);
});

test("operations that run something require the scope to run it", async () => {
  const hash = await deploy(ask, "acme", "u/admin/hello", "export const main = () => 1");
  const value = { modules: [{ id: "a", value: { type: "identity" } }] };
  await expectOk(ask("POST", "/w/acme/flows/create", { path: "u/admin/flow", summary: "", value }));
  const version = String((await ask("GET", "/w/acme/flows/get/u/admin/flow")).json().version_id);
  const flow_job = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/admin/flow", {}))).text;
  const own = async (scopes: string[]) =>
    server.as((await expectOk(ask("POST", "/users/tokens/create", { scopes }))).text);
  const [others, all, ofHello, ofFlow] = await Promise.all([
    own(["variables:write", "scripts:write", "flows:write", "jobs:write"]),
    own(["jobs:run"]),
    own(["jobs:run:scripts:u/admin/hello"]),
    own(["jobs:run:flows:u/admin/flow"]),
  ]);
  const ways = operations.filter(
    ({ name, path }) => EXEMPT_OPERATIONS.has(name) && /\/jobs\/(run|ai_sync|openai_sync|restart)/.test(path),
  );
  expect(ways.length).toBe(27);
  for (const { name, method, path } of ways) {
    const isFlow = /\/(f|fv)\//.test(path);
    const url = path
      .replace("{workspace}", "acme")
      .replace("{path}", isFlow ? "u/admin/flow" : "u/admin/hello")
      .replace("{hash}", hash)
      .replace("{version}", version)
      .replace("{job_id}", flow_job)
      .replace("{step_id}", "a")
      .replace("{branch_or_iteration_n}", "0");
    const body = name === "restartFlowAtPoint" ? { step_id: "a" } : {};
    const ask = (by: Ask, at: string) => by(method, at, method === "GET" ? undefined : body);
    // A job that the token may not see is reported as missing.
    const refused = async (by: Ask) => [403, 404].includes((await ask(by, url)).status);
    // Missing items are rejected like existing ones: a token reveals nothing outside its scopes.
    const missing = url
      .replace("u/admin/", "u/admin/no")
      .replace(hash, "0".repeat(64))
      .replace(/fv\/\d+/, "fv/999999");
    const answers = async (at: string) => {
      const { status, text } = await ask(isFlow ? ofHello : ofFlow, at);
      return [status, text.replace(/u\/admin\/(no)?/, "u/admin/")];
    };
    if (!path.includes("{job_id}"))
      expect([name, await answers(missing)]).toEqual([name, await answers(url)]);
    const got = [await refused(others), await refused(all), await refused(ofHello), await refused(ofFlow)];
    expect([name, ...got]).toEqual([name, true, false, isFlow, !isFlow]);
  }
  const resume = (by: Ask) => by("POST", `/w/acme/jobs/flow/resume/${flow_job}`, {});
  const resumed = [await resume(others), await resume(ofHello), await resume(ofFlow)];
  expect(resumed.map(({ status }) => status)).toEqual([403, 403, 403]);
});
