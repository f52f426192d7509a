/** A workspace's scripts and flows as tools: those the caller may read and run. */

import { BadRequest } from "../../../lib/errors.ts";
import { canRead } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type FoundRunnable, runnablesIn } from "../../code/runnables/runnables.ts";
import { isAllowed } from "../../tenancy/tokens/scopes.ts";
import { type Target, toolName } from "./tool-names.ts";

/** What the protocol calls a tool (MCP 2025-11-25, Server Features › Tools). */
export interface Tool {
  name: string;
  title?: string;
  description: string;
  inputSchema: InputSchema;
  _meta: { kind: Target["kind"]; path: string };
}

interface InputSchema {
  [keyword: string]: unknown;
  type: "object";
  properties?: Record<string, object>;
  required?: string[];
}

const PAGE = 100;

/**
 * One page of tools, in the order of their paths.
 * @param cursor the `nextCursor` of the page before
 * @throws BadRequest for a cursor that is none
 */
export async function listTools(
  ctx: WorkspaceContext,
  cursor: string | undefined,
): Promise<{ tools: Tool[]; nextCursor?: string }> {
  const after = cursor === undefined ? "" : readCursor(cursor);
  const found = (await offered(ctx))
    .map((runnable) => ({ key: keyOf(runnable), runnable }))
    .filter(({ key }) => key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const page = found.slice(0, PAGE);
  const tools = page.map(({ runnable }) => toTool(runnable));
  if (found.length <= PAGE) return { tools };
  return { tools, nextCursor: Buffer.from(page.at(-1)!.key).toString("base64url") };
}

/** What a hashed name stands for, if it is offered to the caller. */
export async function findTool(ctx: WorkspaceContext, name: string): Promise<Target | undefined> {
  return (await offered(ctx)).find((runnable) => toolName(runnable) === name);
}

const keyOf = ({ kind, path }: Target) => `${path} ${kind}`;

function readCursor(cursor: string): string {
  const key = Buffer.from(cursor, "base64url").toString();
  if (!/ (script|flow)$/.test(key))
    throw new BadRequest("the cursor is none that a list of tools ended with");
  return key;
}

/** Scripts that ask for signed requests are for those senders alone. */
async function offered({ app, caller }: WorkspaceContext): Promise<FoundRunnable[]> {
  const { member, identity } = caller;
  const found = await runnablesIn(app, [member.workspace_id]);
  return found.filter(
    ({ kind, path, extra_perms, is_signed }) =>
      !is_signed &&
      canRead(member, path, extra_perms) &&
      isAllowed(identity, { domain: "jobs", action: "run", kind: `${kind}s` }, path),
  );
}

function toTool({ kind, path, summary, description, schema }: FoundRunnable): Tool {
  const said = [summary, description].filter((text) => text).join("\n\n");
  return {
    name: toolName({ kind, path }),
    ...(summary ? { title: summary } : {}),
    description: said ? `${said}\n\n(${kind} ${path})` : `Runs the ${kind} ${path}.`,
    inputSchema: toInputSchema(schema),
    _meta: { kind, path },
  };
}

/** The schema that is stored with the code; whoever deployed it may have sent anything. */
function toInputSchema(schema: unknown): InputSchema {
  if (!isRecord(schema)) return { type: "object" };
  const { properties, required, ...rest } = schema;
  const named = isRecord(properties) ? Object.entries(properties).filter(([, value]) => isRecord(value)) : [];
  return {
    ...rest,
    type: "object",
    properties: Object.fromEntries(named) as Record<string, object>,
    ...(isTexts(required) ? { required } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}
