/** Commands entered in Slack. Each starts the command script or flow of the connected workspace. */
import { and, asc, eq, sql } from "drizzle-orm";
import { runInBackground } from "../../../lib/async/background.ts";
import { SvcError } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { parseRunnablePath } from "../../../lib/text/runnable-path.ts";
import { CHAT_GROUP } from "../../../lib/text/server-groups.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { escapeReferences } from "../../runs/arguments/caller-references.ts";
import { verifySignatureWithKey } from "../../runs/submit/signatures.ts";
import { formatGroupRunAs } from "../../tenancy/people/members.ts";
import { workspaceSettings, workspaces } from "../../tenancy/workspaces/tables.ts";
import { submitAsGroup } from "../handlers/submit-as-group.ts";
import { getSigningSecret } from "./chat-settings.ts";

const MAX_FORM_BYTES = 100_000;
/** Below Slack's own limit of 3 s. */
const RESPONSE_TIMEOUT_MS = 2_500;

const Command = z.looseObject({
  team_id: z.string().regex(/^\w{1,50}$/),
  text: z.string().default(""),
  user_name: z.string().default("somebody"),
});

/**
 * Starts the job that a signed request from Slack asks for. It responds in time, even if the start takes
 * longer.
 * @returns the text that Slack shows to the sender
 * @throws Unauthorized for a request without a valid signature, NotFound if the signing secret is not set
 */
export async function handleChatCommand(app: App, request: Request): Promise<string> {
  const secret = getSigningSecret(app);
  const signed = await verifySignatureWithKey(app, request, {
    rule: { scheme: "slack" },
    key: async () => secret,
    limit: MAX_FORM_BYTES,
  });
  const { token: _, ...form } = Object.fromEntries(new URLSearchParams(await signed.text()));
  const command = Command.safeParse(form);
  if (!command.success) return "This is not a slash command: `team_id` is missing.";
  return respondInTime(app, () => startCommand(app, command.data));
}

async function respondInTime(app: App, work: () => Promise<string>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve("The job is being started."), RESPONSE_TIMEOUT_MS);
  runInBackground(
    app,
    async () => resolve(await work()),
    (cause) => {
      if (!(cause instanceof SvcError)) app.log.error({ error: String(cause) }, "a chat command failed");
      resolve(
        `The job could not be started: ${cause instanceof SvcError ? cause.message : "see the server's log"}`,
      );
    },
  );
  return promise.finally(() => clearTimeout(timer));
}

async function startCommand(app: App, command: z.output<typeof Command>): Promise<string> {
  const [connected, ...others] = await listConnectedWorkspaces(app, command.team_id);
  if (!connected) return "No workspace connected to this team has a command script.";
  if (others.length > 0) {
    const ids = [connected, ...others].map(({ workspace_id }) => workspace_id).join(", ");
    return `Several workspaces connected to this team have a command script (${ids}): remove it from all but one.`;
  }
  const { workspace_id, script } = connected;
  const trigger = {
    workspace_id,
    group: CHAT_GROUP,
    kind: "chat",
    created_by: `chat-${command.user_name}`,
  } as const;
  const runner = { workspace_id, email: formatGroupRunAs(CHAT_GROUP).email };
  const id = await submitAsGroup(app, trigger, {
    target: parseRunnablePath(script) ?? { path: script },
    args: parseJson(await escapeReferences(app, runner, JSON.stringify(command))) as Record<string, unknown>,
    options: {},
  });
  return `Job ${id} started: ${app.urls.base}/api/w/${workspace_id}/jobs_u/get/${id}`;
}

async function listConnectedWorkspaces(
  app: App,
  team_id: string,
): Promise<{ workspace_id: string; script: string }[]> {
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
