/**
 * What speaks the Model Context Protocol: the official SDK over one HTTP request (streamable HTTP, stateless). It is
 * loaded when the first agent calls.
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
import { refuseDeep } from "../../../lib/json/depth.ts";
import { parseFields } from "../../../lib/json/json.ts";
import { VERSION } from "../../../lib/version.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { readText } from "../../../platform/http/input.ts";
import { callTool } from "./call.ts";
import type { Listener } from "./listen.ts";
import { type Target, targetOf } from "./tool-names.ts";
import { findTool, listTools } from "./tools.ts";

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** Made once: each server would make one of its own, though nothing here asks for it. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

/**
 * Answers one request of an agent.
 * @throws BadRequest for what is no JSON, PayloadTooLarge
 */
export async function answerAgent(ctx: WorkspaceContext): Promise<Response> {
  const { app, request } = ctx;
  const text = await readText(request, app.settings.get("request_size_limit_mb") * 1_000_000);
  const transport = new WebStandardStreamableHTTPServerTransport({});
  await serverFor(ctx).connect(transport);
  return transport.handleRequest(request, { parsedBody: parse(text) });
}

function parse(text: string): unknown {
  refuseDeep(text, "the body");
  try {
    return parseFields(text);
  } catch (cause) {
    throw new BadRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
}

function serverFor(ctx: WorkspaceContext): Server {
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
    const target = await resolve(ctx, params.name);
    if (!target) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name.slice(0, 100)}`);
    const result = await callTool(ctx, target, params.arguments, listenerOf(target, extra));
    // As with every answer: what it tells of is on disk before it goes out.
    await ctx.app.db.settled();
    return result;
  });
  return server;
}

async function resolve(ctx: WorkspaceContext, name: string): Promise<Target | undefined> {
  const target = targetOf(name);
  return target === "hashed" ? findTool(ctx, name) : target;
}

/** Tells the agent's client what the job says: the log as messages, and progress if the client gave it a name. */
function listenerOf({ path }: Target, { sendNotification, _meta, signal }: Extra): Listener {
  const tell = (notification: ServerNotification) => {
    // A client that is gone hears nothing; that its call ends is told elsewhere.
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
