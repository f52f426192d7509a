/** Deploys the settings of a workspace, from `settings.yaml`. */
import { editAutoInviteOperation } from "../../../src/features/accounts/members/joining/auto-invite.ts";
import { changeSetting } from "../../client/workspace-settings.ts";
import type { ComparedFields } from "../read/canonical.ts";
import { listChangedFields } from "../show/show-plan.ts";
import type { Deployment } from "./deployment.ts";

/** Settings that one operation changes together. */
const AUTO_INVITE = /^auto_invite_/;

/** Saves the settings that differ. The workspace's name is not synchronised. */
export async function saveSettings(
  { client, workspace }: Deployment,
  { local, remote }: ComparedFields,
): Promise<void> {
  const names = listChangedFields(remote, local);
  for (const name of names.filter((each) => !AUTO_INVITE.test(each))) {
    const value = local[name];
    const text = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
    await changeSetting(
      client,
      workspace,
      name,
      text === "" && typeof remote[name] === "boolean" ? "false" : text,
    );
  }
  if (!names.some((name) => AUTO_INVITE.test(name))) return;
  const operator = local.auto_invite_as === "operator";
  const auto_add = local.auto_invite_mode === "add";
  // Without `operator` the operation ends the automatic invitations.
  const body = local.auto_invite_enabled === true ? { operator, auto_add } : {};
  await client.call(editAutoInviteOperation, { workspace, body });
}
