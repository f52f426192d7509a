/** Connects Slack: stores its bot token, for the instance's alerts or for the scripts of a workspace. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { Unavailable } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { UserContext, WorkspaceContext } from "../../../platform/app/context.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import type { AuthorizationResponse, ProviderTokens } from "../connections/oauth-protocol.ts";
import { resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";
import { CHAT_CLIENT, completeConnect, storeToken } from "./connect.ts";

/** Path of a workspace's bot token: a secret, and a resource that references it. */
export const BOT_TOKEN_PATH = "f/chat_bot/bot_token";
const CHAT_SETTING = "chat";

/** The older and the newer form of Slack's token response. */
const ChatToken = z.union([
  z
    .object({
      team_id: z.string(),
      team_name: z.string(),
      bot: z.object({ bot_access_token: z.string() }),
    })
    .transform(({ team_id, team_name, bot }) => ({ team_id, team_name, token: bot.bot_access_token })),
  z
    .object({ access_token: z.string(), team: z.object({ id: z.string(), name: z.string() }) })
    .transform(({ access_token, team }) => ({ team_id: team.id, team_name: team.name, token: access_token })),
]);

/**
 * Reads the team and the bot token from Slack's token response.
 * @throws Unavailable if the response contains no team
 */
function parseTeam({ body }: ProviderTokens): z.output<typeof ChatToken> {
  const parsed = ChatToken.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new Unavailable("Slack's response is invalid: it contains no team or no bot token");
}

/** Connects the instance, for its alerts. @returns the team's name. @throws as `completeConnect` */
export async function connectChatToInstance(
  ctx: UserContext,
  returned: AuthorizationResponse,
): Promise<string> {
  const tokens = await completeConnect(ctx, CHAT_CLIENT, returned);
  const { team_id, team_name, token } = parseTeam(tokens);
  const connection = { team_id, team_name, access_token: token, bot: { bot_access_token: token } };
  await ctx.write({ resource: team_id }, (tx) =>
    ctx.app.settings.put(tx, CHAT_SETTING, connection, ctx.caller.identity.email),
  );
  return team_name;
}

/** Connects a workspace, replacing the team before. @returns the team's name. @throws as `completeConnect` */
export async function connectChatToWorkspace(
  ctx: WorkspaceContext,
  returned: AuthorizationResponse,
): Promise<string> {
  const tokens = await completeConnect(ctx, CHAT_CLIENT, returned);
  const { team_id, team_name, token } = parseTeam(tokens);
  await ctx.write({ resource: team_id }, async (tx) => {
    await storeTeam(ctx, tx, { chat_team_id: team_id, chat_name: team_name });
    const description = `Token of the bot in ${team_name}`;
    await storeToken(ctx, tx, {
      path: BOT_TOKEN_PATH,
      value: token,
      type: CHAT_CLIENT,
      description,
      account: null,
    });
  });
  return team_name;
}

/** Deletes the team and its token from the workspace. */
export async function disconnectChatFromWorkspace(ctx: WorkspaceContext): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: BOT_TOKEN_PATH }, async (tx) => {
    await storeTeam(ctx, tx, {});
    for (const table of [variables, resources]) {
      await tx.delete(table).where(and(eq(table.workspace_id, workspace_id), eq(table.path, BOT_TOKEN_PATH)));
    }
  });
}

async function storeTeam(
  ctx: WorkspaceContext,
  tx: Tx,
  team: { chat_team_id?: string; chat_name?: string },
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await tx.lock(`settings of workspace ${workspace_id}`);
  const [row] = await tx
    .select()
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  const { chat_team_id: _, chat_name: __, ...others } = row?.settings ?? {};
  const settings = { ...others, ...team };
  await tx
    .insert(workspaceSettings)
    .values({ workspace_id, auto_invite_domain: row?.auto_invite_domain ?? null, settings })
    .onConflictDoUpdate({ target: workspaceSettings.workspace_id, set: { settings } });
}
