/**
 * The Model Context Protocol server: the official SDK over one HTTP request (streamable HTTP, stateless). It is loaded
 * with the first request.
 *
 * `tools.ts` lists the tools, `call-tool.ts` runs one by runs/submit (submit and wait), and `job-listener.ts` forwards
 * the job's log and progress meanwhile.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type ServerNotification,
  type ServerRequest,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { BadRequest } from "../../../lib/errors.ts";
import { requireJsonDepth } from "../../../lib/json/depth.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { VERSION } from "../../../lib/version.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { readText } from "../../../platform/http/input.ts";
import { callTool } from "./call-tool.ts";
import type { JobListener } from "./job-listener.ts";
import { parseToolName, type ToolTarget } from "./tool-names.ts";
import { findTool, listTools } from "./tools.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Shared: each server would create its own, although it is not used. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/**
 * Handles one request of an agent.
 * @throws BadRequest for invalid JSON, PayloadTooLarge
 */
export async function handleMcpRequest(ctx: WorkspaceContext): Promise<Response> {
  const { app, request } = ctx;
  const text = await readText(request, app.settings.get("request_size_limit_mb") * 1_000_000);
  const transport = new WebStandardStreamableHTTPServerTransport({});
  await createMcpServer(ctx).connect(transport);
  return transport.handleRequest(request, { parsedBody: parseMessage(text) });
}

function parseMessage(text: string): unknown {
  requireJsonDepth(text, "the body");
  try {
    return parseSchemaJson(text);
  } catch (cause) {
    throw new BadRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
}

function createMcpServer(ctx: WorkspaceContext): Server {
  const { workspace_id } = ctx.caller.member;
  const server = new Server(
    { name: "svc", title: `svc: ${workspace_id}`, version: VERSION },
    { capabilities: { tools: {}, logging: {} }, jsonSchemaValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
    try {
      return { ...(await listTools(ctx, params?.cursor)) };
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error;
      throw new McpError(ErrorCode.InvalidParams, error.message);
    }
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const target = await resolveTool(ctx, params.name);
    if (!target) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name.slice(0, 100)}`);
    const result = await callTool(ctx, target, params.arguments, createNotifier(target, extra));
    // Read barrier, as before every response: no data is sent that is not flushed.
    await ctx.app.db.readBarrier();
    return result;
  });
  return server;
}

async function resolveTool(ctx: WorkspaceContext, name: string): Promise<ToolTarget | undefined> {
  const target = parseToolName(name);
  return target === "hashed" ? findTool(ctx, name) : target;
}

/** Creates a listener that forwards the log as messages, and progress if the client sent a token for it. */
function createNotifier({ path }: ToolTarget, { sendNotification, _meta, signal }: Extra): JobListener {
  const tell = (notification: ServerNotification) => {
    // A closed connection is handled elsewhere; notifications to it are dropped.
    if (!signal.aborted) sendNotification(notification).catch(() => {});
  };
  const progressToken = _meta?.progressToken;
  return {
    log: (data) => tell({ method: "notifications/message", params: { level: "info", logger: path, data } }),
    ...(progressToken === undefined
      ? {}
      : {
          progress: (progress) =>
            tell({ method: "notifications/progress", params: { progressToken, progress, total: 100 } }),
        }),
  };
}
