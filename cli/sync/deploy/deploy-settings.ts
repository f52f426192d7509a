/** The settings of a workspace, as the file `settings.yaml` has them. */
import { editAutoInviteOperation } from "../../../src/features/accounts/members/joining/auto-invite.ts";
import { changeSetting } from "../../client/workspace-settings.ts";
import type { Compared } from "../read/canonical.ts";
import { changedFields } from "../show/show.ts";
import type { Deployment } from "./deployment.ts";

/** Several of them are said by one operation. */
const AUTO_INVITE = /^auto_invite_/;

/** Changes what differs. What the workspace is called is its own. */
export async function saveSettings(
  { client, workspace }: Deployment,
  { local, remote }: Compared,
): Promise<void> {
  const names = changedFields(remote, local);
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
  // Without a word about operators nobody is invited any more.
  const body = local.auto_invite_enabled === true ? { operator, auto_add } : {};
  await client.call(editAutoInviteOperation, { workspace, body });
}
