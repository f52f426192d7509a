/** Deploys the settings of a workspace, from `settings.yaml`. */
import { editAutoInviteOperation } from "../../client/operations/accounts.ts";
import { changeSetting, isSetting } from "../../client/workspace-settings.ts";
import { CliError, EXIT_CODES } from "../../terminal/text/failure.ts";
import { printNote, toOneLine } from "../../terminal/text/output.ts";
import type { ComparedFields } from "../read/canonical.ts";
import { listChangedFields } from "../show/show-plan.ts";
import type { Deployment } from "./deployment.ts";

/** Settings that one operation sets together. */
const AUTO_INVITE = /^auto_invite_/;

/**
 * Saves the settings that differ, except the workspace's name. A rejected one does not stop the others.
 * @throws CliError with the reasons
 */
export async function saveSettings(
  { client, workspace }: Deployment,
  { local, remote }: ComparedFields,
): Promise<void> {
  const names = listChangedFields(remote, local);
  const reasons: string[] = [];
  const keepReason = (cause: unknown) => {
    if (!(cause instanceof CliError) || cause.exit_code === EXIT_CODES.unreachable) throw cause;
    reasons.push(cause.message);
  };
  for (const name of names.filter((each) => !AUTO_INVITE.test(each))) {
    const setting = name === "slack_command_script" ? "chat_command_script" : name;
    if (!isSetting(setting)) {
      printNote(toOneLine(`warning: settings: ${name} is not supported here, and is left out`));
      continue;
    }
    const value = local[name];
    const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
    const given = text === "" && typeof remote[name] === "boolean" ? "false" : text;
    await changeSetting(client, workspace, setting, given).then(warnOfRemarks, keepReason);
  }
  if (names.some((name) => AUTO_INVITE.test(name))) {
    await saveAutoInvite({ client, workspace }, local).catch(keepReason);
  }
  if (reasons.length > 0) throw new CliError("BadRequest", reasons.join("; "));
}

/** Prints what an operation's confirmation adds, such as what does not exist yet. */
function warnOfRemarks(confirmation: string): void {
  const [, ...remarks] = confirmation.split("; ");
  for (const remark of remarks) printNote(toOneLine(`warning: settings: ${remark}`));
}

async function saveAutoInvite(
  { client, workspace }: Pick<Deployment, "client" | "workspace">,
  local: ComparedFields["local"],
): Promise<void> {
  const operator = local.auto_invite_as === "operator";
  const auto_add = local.auto_invite_mode === "add";
  // Without `operator`, the operation disables automatic invitations.
  const body = local.auto_invite_enabled === true ? { operator, auto_add } : {};
  await client.call(editAutoInviteOperation, { workspace, body });
}
