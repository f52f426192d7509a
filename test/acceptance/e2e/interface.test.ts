/** The OpenAPI description and the MCP server are part of the executable and need no other files. */
import { afterAll, expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { createInstallation, setUp, until } from "./executable.ts";

const made = createInstallation();
afterAll(() => made.remove());

test("contains the description, its page and the tools of agents", async () => {
  const server = await made.serve();
  const token = await setUp(server);
  const description = await fetch(`${server.url}/api/openapi.yaml`);
  expect(await description.text()).toStartWith("openapi: 3.1.0\n");
  const page = await fetch(`${server.url}/api/docs`);
  expect(await page.text()).toContain('<details id="callAgentTools">');
  const content = "export const main = (n: number) => n * 2";
  await server.operator("/w/acme/scripts/create", { path: "u/ann/double", language: "bun", content });

  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/api/mcp/w/acme/mcp`), { requestInit }),
  );
  const tool = await until(async () => (await client.listTools()).tools[0], "the deployment");
  const schema = { type: "object", properties: { n: { type: "number" } } };
  expect([tool.name, tool.inputSchema]).toEqual(["s-u-ann-double", expect.objectContaining(schema)]);
  expect(await client.callTool({ name: tool.name, arguments: { n: 21 } })).toMatchObject({
    content: [{ type: "text", text: "42" }],
  });
  await client.close();
  process.kill(server.pid, "SIGTERM");
  expect(await server.process.exited).toBe(0);
}, 60_000);
