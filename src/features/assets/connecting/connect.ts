/** Connects accounts at OAuth providers, for use by scripts. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import { canWrite } from "../../../platform/access/permissions.ts";
import type { Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { encryptSecret } from "../../tenancy/workspaces/secrets.ts";
import { DEFAULT_TOKEN_LIFETIME_S, insertAccount } from "../connections/accounts.ts";
import { getClient } from "../connections/oauth-clients.ts";
import {
  type AuthorizationResponse,
  exchangeCode,
  type ProviderTokens,
} from "../connections/oauth-protocol.ts";
import { consumeState, readState } from "../connections/oauth-state.ts";
import { resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";

/** Name of Slack's OAuth client, which has a redirect URI of its own. */
export const CHAT_CLIENT = "chat";

/** Returns the redirect URI to which the provider sends the browser back. */
export function createConnectRedirectUri(ctx: Context, client: string): string {
  return `${ctx.app.urls.base}/oauth/${client === CHAT_CLIENT ? "callback_chat" : `callback/${client}`}`;
}

/**
 * Exchanges the authorization code for tokens. The state is consumed even if that fails.
 * @throws BadRequest for a used or foreign state or user, and if the provider refuses; Unavailable
 */
export async function completeConnect(
  ctx: Context,
  name: string,
  returned: AuthorizationResponse,
): Promise<ProviderTokens> {
  const { app } = ctx;
  const client = getClient(app, name, "connect");
  const oauthState = readState(app, ctx.request, { kind: "connect", client: name, state: returned.state });
  // A link with somebody's token may have started it in this browser, with a path that they can read.
  if (oauthState.email !== ctx.caller.identity?.email) {
    throw new BadRequest("the connection was started by another user", { hint: "begin again" });
  }
  await ctx.write({ resource: name }, (tx) => consumeState(app, tx, oauthState));
  return exchangeCode(app, client, oauthState, {
    returned,
    redirect_uri: createConnectRedirectUri(ctx, name),
  });
}

/** Checks that a connection can be stored at the path. @throws BadRequest for a used path, Forbidden */
export async function requireFreePath(ctx: WorkspaceContext, tx: Tx, path: string): Promise<void> {
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

/** Stores a token as a secret and a resource that references it, at the same path. */
export async function storeToken(
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

/** Stores an account with its secret and resource in one transaction. @throws BadRequest, Forbidden */
export async function storeConnection(
  ctx: WorkspaceContext,
  client: string,
  path: string,
  tokens: ProviderTokens,
): Promise<void> {
  await ctx.write({ resource: path }, async (tx) => {
    await requireFreePath(ctx, tx, path);
    const { refresh_token, expires_in = DEFAULT_TOKEN_LIFETIME_S } = tokens;
    // Without lifetime and refresh token, the access token does not expire.
    const expires = refresh_token !== undefined || tokens.expires_in !== undefined;
    const account = expires ? await insertAccount(ctx, tx, { client, refresh_token, expires_in }) : null;
    const description = `OAuth token of ${client}`;
    await storeToken(ctx, tx, { path, value: tokens.access_token, type: client, description, account });
  });
}
