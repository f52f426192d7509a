/** A workspace's scripts and flows as tools: those that the caller may read and run. */

import { BadRequest } from "../../../lib/errors.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type FoundRunnable, listWorkspaceRunnables } from "../../code/runnables/runnables.ts";
import { isScopeAllowed } from "../../tenancy/tokens/scopes.ts";
import { formatToolName, type ToolTarget } from "./tool-names.ts";

/** A tool in the protocol (MCP 2025-11-25, Server Features › Tools). */
export interface Tool {
  name: string;
  title?: string;
  description: string;
  inputSchema: InputSchema;
  _meta: { kind: ToolTarget["kind"]; path: string };
}

interface InputSchema {
  [keyword: string]: unknown;
  type: "object";
  properties?: Record<string, object>;
  required?: string[];
}

const PAGE_SIZE = 100;

/**
 * Lists one page of tools, in order of their paths.
 * @param cursor the `nextCursor` of the page before
 * @throws BadRequest for an invalid cursor
 */
export async function listTools(
  ctx: WorkspaceContext,
  cursor: string | undefined,
): Promise<{ tools: Tool[]; nextCursor?: string }> {
  const after = cursor === undefined ? "" : parseCursor(cursor);
  const found = (await listOfferedRunnables(ctx))
    .map((runnable) => ({ key: toolKey(runnable), runnable }))
    .filter(({ key }) => key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const page = found.slice(0, PAGE_SIZE);
  const tools = page.map(({ runnable }) => createTool(runnable));
  if (found.length <= PAGE_SIZE) return { tools };
  return { tools, nextCursor: Buffer.from(page.at(-1)!.key).toString("base64url") };
}

/** Finds the target of a hashed name, if it is offered to the caller. */
export async function findTool(ctx: WorkspaceContext, name: string): Promise<ToolTarget | undefined> {
  return (await listOfferedRunnables(ctx)).find((runnable) => formatToolName(runnable) === name);
}

const toolKey = ({ kind, path }: ToolTarget) => `${path} ${kind}`;

function parseCursor(cursor: string): string {
  const key = Buffer.from(cursor, "base64url").toString();
  if (!/ (script|flow)$/.test(key)) throw new BadRequest("the cursor was not returned by a list of tools");
  return key;
}

/** Lists the runnables offered as tools. Scripts that require signed requests are excluded. */
async function listOfferedRunnables({ app, caller }: WorkspaceContext): Promise<FoundRunnable[]> {
  const { member, identity } = caller;
  const found = await listWorkspaceRunnables(app, [member.workspace_id]);
  return found.filter(
    ({ kind, path, extra_perms, is_signed }) =>
      !is_signed &&
      canRead(member, path, extra_perms) &&
      isScopeAllowed(identity, { domain: "jobs", action: "run", kind: `${kind}s` }, path),
  );
}

function createTool({ kind, path, summary, description, schema }: FoundRunnable): Tool {
  const said = [summary, description].filter((text) => text).join("\n\n");
  return {
    name: formatToolName({ kind, path }),
    ...(summary ? { title: summary } : {}),
    description: said ? `${said}\n\n(${kind} ${path})` : `Runs the ${kind} ${path}.`,
    inputSchema: toInputSchema(schema),
    _meta: { kind, path },
  };
}

/** Converts the stored schema, which is not trusted to be valid. */
function toInputSchema(schema: unknown): InputSchema {
  if (!isRecord(schema)) return { type: "object" };
  const { properties, required, ...rest } = schema;
  const named = isRecord(properties) ? Object.entries(properties).filter(([, value]) => isRecord(value)) : [];
  return {
    ...rest,
    type: "object",
    properties: Object.fromEntries(named) as Record<string, object>,
    ...(isTextArray(required) ? { required } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTextArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
