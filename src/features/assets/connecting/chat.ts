/** The chat product: its bot's token, for the instance's alerts or for the scripts of a workspace. */
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import type { Tx } from "../../../database/database.ts";
import { Unavailable } from "../../../lib/errors.ts";
import type { UserContext, WorkspaceContext } from "../../../platform/app/context.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import type { Returned, Tokens } from "../connections/provider.ts";
import { resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";
import { CHAT, finishConnect, putToken } from "./connect.ts";

/** Where a workspace's bot token stands: a secret, and a resource that refers to it. */
export const BOT_TOKEN_PATH = "f/chat_bot/bot_token";
const SETTING = "chat";

/** The product's older and its newer answer. */
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

/** @throws Unavailable when the answer names no team */
function teamOf({ body }: Tokens): z.output<typeof ChatToken> {
  const parsed = ChatToken.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new Unavailable("the chat product's answer makes no sense: it names no team and no bot token");
}

/** Connects the instance: alerts go there. @returns the team's name. @throws as `finishConnect` */
export async function connectInstance(ctx: UserContext, returned: Returned): Promise<string> {
  const tokens = await finishConnect(ctx, CHAT, returned);
  const { team_id, team_name, token } = teamOf(tokens);
  const connection = { team_id, team_name, access_token: token, bot: { bot_access_token: token } };
  await ctx.write({ resource: team_id }, (tx) =>
    ctx.app.settings.put(tx, SETTING, connection, ctx.caller.identity.email),
  );
  return team_name;
}

/** Connects a workspace, in place of the team before. @returns the team's name. @throws as `finishConnect` */
export async function connectWorkspace(ctx: WorkspaceContext, returned: Returned): Promise<string> {
  const tokens = await finishConnect(ctx, CHAT, returned);
  const { team_id, team_name, token } = teamOf(tokens);
  await ctx.write({ resource: team_id }, async (tx) => {
    await setTeam(ctx, tx, { chat_team_id: team_id, chat_name: team_name });
    const description = `Token of the bot in ${team_name}`;
    await putToken(ctx, tx, { path: BOT_TOKEN_PATH, value: token, type: CHAT, description, account: null });
  });
  return team_name;
}

/** Forgets the team and its token. */
export async function disconnectWorkspace(ctx: WorkspaceContext): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: BOT_TOKEN_PATH }, async (tx) => {
    await setTeam(ctx, tx, {});
    for (const table of [variables, resources]) {
      await tx.delete(table).where(and(eq(table.workspace_id, workspace_id), eq(table.path, BOT_TOKEN_PATH)));
    }
  });
}

async function setTeam(
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
