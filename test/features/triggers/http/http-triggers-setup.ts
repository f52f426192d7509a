/** A server with scripts that routes run, and routes created for a test. */
import { afterAll, beforeAll } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
export let ann: Ask;
export let nobody: Ask;

const PREPROCESSED = `export const preprocessor = (event: any) => ({ event });
export const main = (event: any) => event;`;
const NAMED = `export const preprocessor = (wm_trigger: any, id: string) => ({ got: { wm_trigger, id } });
export const main = (got: any) => got;`;

export const HTTP_TRIGGERS = "/w/acme/http_triggers";
let count = 0;
/** A number that is used once per file. */
export const nextNumber = () => ++count;
export const route = (more: object = {}) => {
  const n = ++count;
  return {
    path: `u/admin/route_${n}`,
    route_path: `r${n}`,
    http_method: "post",
    script_path: "u/admin/shown",
    is_flow: false,
    ...more,
  };
};
export async function create(more: object = {}, by: Ask = ask): Promise<{ path: string; url: string }> {
  const body = route(more) as ReturnType<typeof route> & { workspaced_route?: boolean };
  await expectOk(by("POST", `${HTTP_TRIGGERS}/create`, body));
  return { path: body.path, url: `/r/${body.workspaced_route ? "acme/" : ""}${body.route_path}` };
}

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpRoutes(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask } = await server.workspace());
    await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["*"] }));
    ({ ask: ann } = await server.member("acme", "ann"));
    nobody = server.as(undefined);
    const shown =
      "export const main = (id?: string, q?: string, n?: number, body?: unknown, raw_string?: string, rest?: string) => ({ id, q, n, body, raw_string, rest })";
    await deploy(ask, "acme", "u/admin/shown", shown);
    await deploy(ask, "acme", "u/admin/event", PREPROCESSED);
    await deploy(ask, "acme", "u/admin/named", NAMED);
    await deploy(ask, "acme", "u/admin/fail", "export const main = () => { throw new Error('never') }");
    await deploy(
      ask,
      "acme",
      "u/admin/page",
      "export const main = () => ({ wm_status_code: 418, wm_content_type: 'text/html', result: '<p>hi' })",
    );
    await deploy(ask, "acme", "u/admin/whoami", "export const main = () => process.env.WM_USERNAME");
    const flow = {
      path: "u/admin/flow",
      summary: "",
      value: { modules: [{ id: "a", value: { type: "identity" } }] },
    };
    await expectOk(ask("POST", "/w/acme/flows/create", flow));
  });
  afterAll(() => server.stop());
}
