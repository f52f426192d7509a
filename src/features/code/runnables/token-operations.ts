/** Lists the tokens of a workspace whose scopes name a script or flow. */
import { and, desc, eq } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import { NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { TruncatedToken } from "../../tenancy/tokens/records.ts";
import { listRunnables } from "../../tenancy/tokens/scopes.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { LISTED_TOKEN_COLUMNS, toListedToken } from "../../tenancy/tokens/user-tokens.ts";
import { flows } from "../flows/tables.ts";
import { scripts } from "../scripts/tables.ts";

const TokenOfRunnable = TruncatedToken.extend({ email: z.string() });

export const listTokensOfScript = operation({
  name: "listTokensOfScript",
  method: "GET",
  path: "/w/{workspace}/scripts/list_tokens/{path}",
  access: "member",
  summary: "List the tokens whose scopes name a script, newest first",
  responds: responds.json(z.array(TokenOfRunnable)),
  run: (ctx, { path }) => listRunnableTokens(ctx, "scripts", path),
});

export const listTokensOfFlow = operation({
  name: "listTokensOfFlow",
  method: "GET",
  path: "/w/{workspace}/flows/list_tokens/{path}",
  access: "member",
  summary: "List the tokens whose scopes name a flow, newest first",
  responds: responds.json(z.array(TokenOfRunnable)),
  run: (ctx, { path }) => listRunnableTokens(ctx, "flows", path),
});

/**
 * Lists the tokens whose scopes name a script or flow.
 * @throws NotFound if there is no such item, or the caller may not read it
 */
async function listRunnableTokens(ctx: WorkspaceContext, kind: "scripts" | "flows", path: string) {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const table = kind === "scripts" ? scripts : flows;
  const [found] = await app.db.read
    .select({ path: table.path })
    .from(table)
    .where(and(eq(table.workspace_id, workspace_id), eq(table.path, path), readableBy(caller.member, table)))
    .limit(1);
  if (!found) throw new NotFound(`${kind.slice(0, -1)} ${path} in workspace ${workspace_id}`);
  const rows = await app.db.read
    .select({ ...LISTED_TOKEN_COLUMNS, email: tokens.email })
    .from(tokens)
    .where(and(eq(tokens.workspace_id, workspace_id), containsText(tokens.scopes, path)))
    .orderBy(desc(tokens.created_at), tokens.hash);
  return rows.filter((row) => namesRunnable(row.scopes, kind, path)).map((row) => toListedToken(app, row));
}

function namesRunnable(scopes: string[] | null, kind: "scripts" | "flows", path: string): boolean {
  return listRunnables(scopes).some((runnable) => runnable.kind === kind && runnable.path === path);
}

export const runnableTokenOperations: Operation[] = [listTokensOfScript, listTokensOfFlow];
