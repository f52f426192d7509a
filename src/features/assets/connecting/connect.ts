/** Connecting accounts at providers, for scripts to act with. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { canWrite } from "../../../platform/access/permissions.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { encryptSecret } from "../../tenancy/workspaces/secrets.ts";
import { insertAccount, USUAL_LIFETIME_S } from "../connections/accounts.ts";
import { clientOf } from "../connections/clients.ts";
import { journeyOf, useUp } from "../connections/oauth-state.ts";
import { exchangeCode, type Returned, type Tokens } from "../connections/provider.ts";
import { resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";

/** The chat product is a provider like others, with a place of its own to come back to. */
export const CHAT = "chat";

/** Where a provider sends people back to. */
export function connectRedirect(ctx: Context, client: string): string {
  return `${ctx.app.urls.base}/oauth/${client === CHAT ? "callback_chat" : `callback/${client}`}`;
}

/**
 * Trades what a browser came back with for tokens; the attempt is used up, whatever comes of it.
 * @throws BadRequest for a state that is not this browser's or was used, and for what the provider refuses; Unavailable
 */
export async function finishConnect(ctx: Context, name: string, returned: Returned): Promise<Tokens> {
  const { app } = ctx;
  const client = clientOf(app, name, "connect");
  const journey = journeyOf(app, ctx.request, { kind: "connect", client: name, state: returned.state });
  await ctx.write({ resource: name }, (tx) => useUp(app, tx, journey));
  return exchangeCode(app, client, journey, { returned, redirect_uri: connectRedirect(ctx, name) });
}

/** Where something connected stands. @throws BadRequest for a taken path, Forbidden */
export async function requireFree(ctx: WorkspaceContext, tx: Tx, path: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  if (!canWrite(ctx.caller.member, path, {})) throw new Forbidden(`${ctx.username} may not write to ${path}`);
  await tx.lock(`variable ${workspace_id} ${path}`);
  await tx.lock(`resource ${workspace_id} ${path}`);
  for (const [what, table] of [
    ["variable", variables],
    ["resource", resources],
  ] as const) {
    const [taken] = await tx
      .select({ path: table.path })
      .from(table)
      .where(and(eq(table.workspace_id, workspace_id), eq(table.path, path)));
    if (taken) throw new BadRequest(`there is a ${what} at ${path} already`);
  }
}

/** A token as a secret, and a resource that refers to it, at one path. */
export async function putToken(
  ctx: WorkspaceContext,
  tx: Tx,
  token: { path: string; value: string; type: string; description: string; account: number | null },
): Promise<void> {
  const { path, description, account } = token;
  const { workspace_id } = ctx.caller.member;
  const value = await encryptSecret(ctx.app, tx, workspace_id, token.value);
  const common = { workspace_id, path, description, account, is_oauth: true };
  const variable = { ...common, value, is_secret: true, expires_at: null, extra_perms: {} };
  const resource = {
    ...common,
    value: { token: `$var:${path}` },
    resource_type: token.type,
    extra_perms: {},
    created_by: ctx.username,
    edited_at: ctx.app.clock(),
  };
  await tx
    .insert(variables)
    .values(variable)
    .onConflictDoUpdate({ target: [variables.workspace_id, variables.path], set: variable });
  await tx
    .insert(resources)
    .values(resource)
    .onConflictDoUpdate({ target: [resources.workspace_id, resources.path], set: resource });
}

/** Keeps an account with its secret and its resource: all of it, or nothing. @throws BadRequest, Forbidden */
export async function storeConnection(
  ctx: WorkspaceContext,
  client: string,
  path: string,
  tokens: Tokens,
): Promise<void> {
  await ctx.write({ resource: path }, async (tx) => {
    await requireFree(ctx, tx, path);
    const { refresh_token, expires_in = USUAL_LIFETIME_S } = tokens;
    // A token without a lifetime and without a refresh token is one that does not expire.
    const expires = refresh_token !== undefined || tokens.expires_in !== undefined;
    const account = expires ? await insertAccount(ctx, tx, { client, refresh_token, expires_in }) : null;
    const description = `OAuth token of ${client}`;
    await putToken(ctx, tx, { path, value: tokens.access_token, type: client, description, account });
  });
}
