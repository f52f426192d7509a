/** A command that somebody has typed in the chat product starts a script or flow of the workspace that is connected. */
import { and, asc, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { inBackground } from "../../../lib/async/background.ts";
import { SvcError } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { targetOfHandler } from "../../../lib/text/runnable-path.ts";
import type { App } from "../../../platform/app/context.ts";
import { asSent } from "../../runs/arguments/caller-references.ts";
import { signedRequest } from "../../runs/submit/signatures.ts";
import { groupIdentity } from "../../tenancy/people/members.ts";
import { CHAT } from "../../tenancy/people/server-groups.ts";
import { workspaceSettings, workspaces } from "../../tenancy/workspaces/tables.ts";
import { submitAsGroup } from "../handlers/submit-as-group.ts";
import { signingSecret } from "./product.ts";

const MAX_FORM = 100_000;
/** The product gives up after 3 s. */
const ANSWER_MS = 2_500;

const Command = z.looseObject({
  team_id: z.string().regex(/^\w{1,50}$/),
  text: z.string().default(""),
  user_name: z.string().default("somebody"),
});

/**
 * Starts what a request of the product asks for, and answers in time, whatever the start takes.
 * @returns what the product shows to who typed the command
 * @throws Unauthorized for what the product has not signed, NotFound while its secret is not set
 */
export async function answerCommand(app: App, request: Request): Promise<string> {
  const secret = signingSecret(app);
  const signed = await signedRequest(app, request, {
    rule: { scheme: "slack" },
    key: async () => secret,
    limit: MAX_FORM,
  });
  const { token: _, ...form } = Object.fromEntries(new URLSearchParams(await signed.text()));
  const command = Command.safeParse(form);
  if (!command.success) return "This is no command: it names no team.";
  return inTime(app, () => start(app, command.data));
}

async function inTime(app: App, work: () => Promise<string>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve("It takes a moment to start."), ANSWER_MS);
  inBackground(
    app,
    async () => resolve(await work()),
    (cause) => {
      if (!(cause instanceof SvcError)) app.log.error({ error: String(cause) }, "a chat command failed");
      resolve(`It could not be started: ${cause instanceof SvcError ? cause.message : "the log says more"}`);
    },
  );
  return promise.finally(() => clearTimeout(timer));
}

async function start(app: App, command: z.output<typeof Command>): Promise<string> {
  const [connected, ...others] = await connectedTo(app, command.team_id);
  if (!connected) return "No workspace with a command is connected to this team.";
  if (others.length > 0) {
    const ids = [connected, ...others].map(({ workspace_id }) => workspace_id).join(", ");
    return `Several workspaces with a command are connected to this team (${ids}): leave it to one of them.`;
  }
  const { workspace_id, script } = connected;
  const trigger = {
    workspace_id,
    group: CHAT,
    kind: "chat",
    created_by: `chat-${command.user_name}`,
  } as const;
  const runner = { workspace_id, email: groupIdentity(CHAT).email };
  const id = await submitAsGroup(app, trigger, {
    target: targetOfHandler(script) ?? { path: script },
    args: parseJson(await asSent(app, runner, JSON.stringify(command))) as Record<string, unknown>,
    options: {},
  });
  return `Job ${id} has begun: ${app.urls.base}/api/w/${workspace_id}/jobs_u/get/${id}`;
}

async function connectedTo(app: App, team_id: string): Promise<{ workspace_id: string; script: string }[]> {
  const rows = await app.db.read
    .select({ workspace_id: workspaceSettings.workspace_id, settings: workspaceSettings.settings })
    .from(workspaceSettings)
    .innerJoin(workspaces, eq(workspaces.id, workspaceSettings.workspace_id))
    .where(and(eq(workspaces.archived, false), sql`${workspaceSettings.settings} LIKE ${`%${team_id}%`}`))
    .orderBy(asc(workspaceSettings.workspace_id));
  return rows.flatMap(({ workspace_id, settings: { chat_team_id, chat_command_script: script } }) =>
    chat_team_id === team_id && script ? [{ workspace_id, script }] : [],
  );
}
