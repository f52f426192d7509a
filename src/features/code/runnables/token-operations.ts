/** Which tokens a script or a flow was given out with: those of its workspace whose scopes name it. */
import { and, desc, eq } from "drizzle-orm";
import { z } from "zod";
import { containsText } from "../../../database/conditions.ts";
import { NotFound } from "../../../lib/errors.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { LISTED, toListed } from "../../tenancy/tokens/own.ts";
import { TruncatedToken } from "../../tenancy/tokens/records.ts";
import { runnablesOf } from "../../tenancy/tokens/scopes.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { flows } from "../flows/tables.ts";
import { scripts } from "../scripts/tables.ts";

const TokenOfRunnable = TruncatedToken.extend({ email: z.string() });

export const listTokensOfScript = operation({
  name: "listTokensOfScript",
  method: "GET",
  path: "/w/{workspace}/scripts/list_tokens/{path}",
  access: "member",
  summary: "List the tokens that were made to run a script, newest first",
  responds: responds.json(z.array(TokenOfRunnable)),
  run: (ctx, { path }) => tokensOf(ctx, "scripts", path),
});

export const listTokensOfFlow = operation({
  name: "listTokensOfFlow",
  method: "GET",
  path: "/w/{workspace}/flows/list_tokens/{path}",
  access: "member",
  summary: "List the tokens that were made to run a flow, newest first",
  responds: responds.json(z.array(TokenOfRunnable)),
  run: (ctx, { path }) => tokensOf(ctx, "flows", path),
});

/** @throws NotFound when there is none at the path that the caller may read */
async function tokensOf(ctx: WorkspaceContext, kind: "scripts" | "flows", path: string) {
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
    .select({ ...LISTED, email: tokens.email })
    .from(tokens)
    .where(and(eq(tokens.workspace_id, workspace_id), containsText(tokens.scopes, path)))
    .orderBy(desc(tokens.created_at), tokens.hash);
  return rows.filter((row) => names(row.scopes, kind, path)).map((row) => toListed(app, row));
}

function names(scopes: string[] | null, kind: "scripts" | "flows", path: string): boolean {
  return runnablesOf(scopes).some((runnable) => runnable.kind === kind && runnable.path === path);
}

export const runnableTokenOperations: Operation[] = [listTokensOfScript, listTokensOfFlow];
