/** Scripts and flows as tools of AI agents: the Model Context Protocol, revision 2025-11-25. */
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";

/** A message of JSON-RPC 2.0. */
const Message = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({}).optional(),
});

/**
 * The only operation. The server is stateless, so GET (listen) and DELETE (end a session) return 405, as the protocol
 * specifies. A restricted token needs `mcp:run`, and `jobs:run…` for what it runs.
 */
const callAgentTools = operation({
  name: "callAgentTools",
  method: "POST",
  path: "/mcp/w/{workspace}/mcp",
  access: "member",
  scope: { domain: "mcp", action: "run" },
  summary: "Offer the scripts and flows the caller may run to an AI agent, by the Model Context Protocol",
  reads: { "application/json": z.union([Message, z.array(Message)]) },
  responds: responds.raw(
    "text/event-stream",
    "JSON-RPC messages: notifications while the job runs, then the response",
  ),
  audit: { operation: "jobs.run.script", action_kind: "Execute" },
  run: async (ctx) => (await import("./server.ts")).handleMcpRequest(ctx),
});

export const mcpOperations: Operation[] = [callAgentTools];
