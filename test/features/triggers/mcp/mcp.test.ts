/** Scripts and flows as tools of agents, called by the protocol's own client. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type CallToolResult, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  formatToolName,
  parseToolName,
  type ToolTarget,
} from "../../../../src/features/triggers/mcp/tool-names.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

setDefaultTimeout(60_000);

let server: TestServer;
let ask: Ask;
let token: string;
const open: Client[] = [];

const ADD = {
  summary: "Adds",
  description: "Adds two numbers.",
  schema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
    required: ["a"],
  },
};

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace("acme"));
  for (const name of ["tools", "secret"]) await expectOk(ask("POST", "/w/acme/folders/create", { name }));
  await deploy(ask, "acme", "f/tools/add", "export const main = (a: number, b = 1) => ({ sum: a + b })", ADD);
  await deploy(ask, "acme", "f/secret/keep", "export const main = () => 'kept'");
  await deploy(ask, "acme", "f/tools/fail", "export const main = () => { throw new RangeError('too far') }");
  const value = {
    modules: [
      {
        id: "a",
        value: {
          type: "rawscript",
          language: "bun",
          content: "export const main = (name: string) => `Hello, ${name}!`",
          input_transforms: { name: { type: "javascript", expr: "flow_input.name" } },
        },
      },
    ],
  };
  const schema = { type: "object", properties: { name: { type: "string" } } };
  await expectOk(
    ask("POST", "/w/acme/flows/create", { path: "f/tools/greet", summary: "Greets", value, schema }),
  );
});
afterAll(async () => {
  for (const client of open) await client.close();
  await server.stop();
});

async function agent(bearer: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  open.push(client);
  const requestInit = { headers: { authorization: `Bearer ${bearer}` } };
  const url = new URL(`${server.url}/api/mcp/w/acme/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

const scoped = async (...scopes: string[]) =>
  (await expectOk(ask("POST", "/users/tokens/create", { label: "agent", scopes, workspace_id: "acme" })))
    .text;

const namesFor = async (bearer: string) =>
  (await (await agent(bearer)).listTools()).tools.map(({ name }) => name);

const call = async (client: Client, name: string, args?: Record<string, unknown>) =>
  (await client.callTool({ name, ...(args ? { arguments: args } : {}) })) as CallToolResult;

const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;

describe("the tools", () => {
  test("are the scripts and flows, each with its schema", async () => {
    const client = await agent(token);
    expect(client.getServerVersion()).toMatchObject({ name: "svc", title: "svc: acme" });
    const { tools, nextCursor } = await client.listTools();
    expect(nextCursor).toBeUndefined();
    expect(tools.map(({ name }) => name)).toEqual([
      "s-f-secret-keep",
      "s-f-tools-add",
      "s-f-tools-fail",
      "f-f-tools-greet",
    ]);
    expect(tools[1]).toEqual({
      name: "s-f-tools-add",
      title: "Adds",
      description: "Adds\n\nAdds two numbers.\n\n(script f/tools/add)",
      inputSchema: ADD.schema as never,
      _meta: { kind: "script", path: "f/tools/add" },
    });
  });

  test("are those that the token's scopes allow", async () => {
    expect(await namesFor(await scoped("mcp:run", "jobs:run"))).toHaveLength(4);
    expect(await namesFor(await scoped("mcp:run", "jobs:run:scripts:f/tools/*"))).toEqual([
      "s-f-tools-add",
      "s-f-tools-fail",
    ]);
    expect(await namesFor(await scoped("mcp:run", "jobs:run:flows"))).toEqual(["f-f-tools-greet"]);
    expect(await namesFor(await scoped("mcp:run"))).toEqual([]);
    await expect(agent(await scoped("jobs:run"))).rejects.toThrow("Required scope: mcp:run");
    await expect(agent("nobody")).rejects.toThrow();
  });

  test("are those that the caller may read", async () => {
    const ann = await server.member("acme", "ann", "operator");
    expect(await namesFor(ann.token)).toEqual([]);
    await expectOk(ask("POST", "/w/acme/folders/addowner/tools", { owner: "u/ann" }));
    expect(await namesFor(ann.token)).toEqual(["s-f-tools-add", "s-f-tools-fail", "f-f-tools-greet"]);
    const client = await agent(ann.token);
    expect(textOf(await call(client, "s-f-tools-add", { a: 1 }))).toBe('{"sum":2}');
    const refused = await call(client, "s-f-secret-keep");
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("Not found")]);
    await server.user("stranger").then(({ token: other }) => expect(agent(other)).rejects.toThrow());
  });

  test("leave out scripts for signed requests only, and reject their runs", async () => {
    const variable = { path: "f/tools/shared", value: "s3cret", is_secret: true, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", variable));
    const signature = { scheme: "github", secret: "f/tools/shared" };
    await deploy(ask, "acme", "f/tools/signed", "export const main = () => 1", { signature });
    expect(await namesFor(token)).not.toContain("s-f-tools-signed");
    const refused = await call(await agent(token), "s-f-tools-signed");
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      expect.stringContaining("signed requests only"),
    ]);
  });

  test("are listed in pages", async () => {
    const paged = await server.workspace("paged");
    const content = "export const main = () => 1";
    const names = Array.from({ length: 101 }, (_, at) => `s${String(at).padStart(3, "0")}`);
    for (const name of names) {
      const body = { path: `u/admin/${name}`, content, language: "bun" };
      await expectOk(paged.ask("POST", "/w/paged/scripts/create", body));
    }
    const list = async (params: object) => {
      const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params };
      const headers = { accept: "application/json, text/event-stream" };
      const { text } = await expectOk(paged.ask("POST", "/mcp/w/paged/mcp", message, headers));
      return JSON.parse(/^data: (.*)$/m.exec(text)![1]!);
    };
    await until(async () => ((await list({})).result.nextCursor ? true : undefined), "the deployments");
    const first = (await list({})).result;
    expect(first.tools).toHaveLength(100);
    const { result: second } = await list({ cursor: first.nextCursor });
    expect(second).toEqual({ tools: [expect.objectContaining({ name: "s-u-admin-s100" })] });
    expect((await list({ cursor: "wrong" })).error).toMatchObject({ code: -32602 });
  });
});

describe("a call", () => {
  test("runs a script or a flow as a job of the caller, and returns its result", async () => {
    const client = await agent(await scoped("mcp:run", "jobs:run"));
    const sum = await call(client, "s-f-tools-add", { a: 41 });
    expect([sum.isError, textOf(sum)]).toEqual([undefined, '{"sum":42}']);
    const job = (await ask("GET", `/w/acme/jobs_u/get/${sum._meta!.job_id}`)).json();
    expect(job).toMatchObject({ script_path: "f/tools/add", args: { a: 41 }, created_by: "label-agent" });
    expect(textOf(await call(client, "f-f-tools-greet", { name: "Ann" }))).toBe("Hello, Ann!");
    const audit = (await ask("GET", "/w/acme/audit/list?operation=jobs.run.flow")).json();
    expect(audit[0]).toMatchObject({ resource: "f/tools/greet" });
  });

  test("returns a failed run as a result, and an unknown tool as an error", async () => {
    const client = await agent(token);
    const failed = await call(client, "s-f-tools-fail");
    expect([failed.isError, textOf(failed)]).toEqual([true, "RangeError: too far"]);
    const gone = await call(client, "s-f-tools-gone");
    expect([gone.isError, textOf(gone)]).toEqual([true, expect.stringContaining("script f/tools/gone")]);
    await expect(call(client, "no tool")).rejects.toThrow("there is no tool no tool");
  });

  test("sends log and progress notifications while the job runs", async () => {
    const content = `
export async function main() {
  console.log("half way");
  const { BASE_INTERNAL_URL: base, WM_TOKEN: token, WM_WORKSPACE: workspace, WM_JOB_ID: id } = process.env;
  const url = \`\${base}/api/w/\${workspace}/job_metrics/set_progress/\${id}\`;
  const headers = { authorization: \`Bearer \${token}\`, "content-type": "application/json" };
  await fetch(url, { method: "POST", headers, body: '{"percent":50}' });
  const flag = \`\${base}/api/w/\${workspace}/variables/exists/u/admin/go_on\`;
  while ((await (await fetch(flag, { headers })).text()) !== "true") await Bun.sleep(20);
  console.log("done");
  return "ok";
}`;
    await deploy(ask, "acme", "u/admin/slow", content);
    const client = await agent(token);
    const said: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      said.push(params.data);
    });
    const heard: unknown[] = [];
    const running = client.callTool({ name: "s-u-admin-slow" }, undefined, {
      onprogress: ({ progress, total }) => heard.push([progress, total]),
    });
    await until(() => (heard.length > 0 ? true : undefined), "progress");
    expect(heard).toEqual([[50, 100]]);
    expect(said.join("")).toBe("half way\n");
    const variable = { path: "u/admin/go_on", value: "", is_secret: false, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", variable));
    expect(textOf((await running) as CallToolResult)).toBe("ok");
    expect(said.join("")).toBe("half way\ndone\n");
  });

  test("cancels its job when the caller disconnects", async () => {
    await deploy(
      ask,
      "acme",
      "u/admin/forever",
      "export const main = () => new Promise(() => setInterval(() => {}, 1e6))",
    );
    const client = await agent(token);
    const running = client.callTool({ name: "s-u-admin-forever" }).catch(() => "hung up");
    const find = async (query: string) =>
      (await ask("GET", `/w/acme/jobs/list?script_path_exact=u/admin/forever&${query}`)).json()[0];
    await until(async () => (await find("running=true")) ?? undefined, "the job");
    await client.close();
    expect(await running).toBe("hung up");
    const ended = await until(async () => (await find("success=false")) ?? undefined, "the job's end");
    expect(ended.canceled).toBe(true);
  });
});

test("GET and DELETE are answered as by a stateless server", async () => {
  for (const method of ["GET", "DELETE"]) {
    const answer = await ask(method, "/mcp/w/acme/mcp");
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
  }
});

describe("names", () => {
  const paths = [
    "u/ann/a",
    "u/ann/a_b",
    "u/ann/a-b",
    "u/a_/_b",
    "u/a/-_-",
    "f/x__/y/z",
    "f/a_h0123456789ab/b",
  ];
  const targets = paths.flatMap((path): ToolTarget[] => [
    { kind: "script", path },
    { kind: "flow", path },
  ]);

  test.each(targets)("$kind $path survives encoding", (target) => {
    const name = formatToolName(target);
    expect(name).toMatch(/^[\w-]{1,64}$/);
    expect(parseToolName(name)).toEqual(target);
  });

  test("are unique, and an invalid one is not decoded", () => {
    expect(new Set(targets.map(formatToolName)).size).toBe(targets.length);
    for (const name of ["", "s", "x-u-a-b", "s-u-a_b", "s-u-a_", "s/u/a/b"]) {
      expect([name, parseToolName(name)]).toEqual([name, undefined]);
    }
  });

  test("of long paths are cut, and found again", async () => {
    const path = `u/admin/${"a_b-c".repeat(20)}`;
    await deploy(ask, "acme", path, "export const main = () => 'long'");
    const name = formatToolName({ kind: "script", path });
    expect(name).toMatch(/^s-u-admin-a__b_-c[\w-]*_h[0-9a-f]{12}$/);
    expect(name.length).toBeLessThanOrEqual(64);
    const client = await agent(token);
    expect(textOf(await call(client, name))).toBe("long");
    await expect(
      call(
        client,
        name.replace(/.$/, (end) => (end === "0" ? "1" : "0")),
      ),
    ).rejects.toThrow("no tool");
  });
});
