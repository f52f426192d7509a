/** Deploys groups: members and managers. */
import { addAcl, removeAcl } from "../../../src/features/accounts/acls/operations.ts";
import {
  addUserToGroup,
  createGroup,
  deleteGroup as deleteGroupOperation,
  getGroup,
  removeUserFromGroup,
  updateGroup,
} from "../../../src/features/accounts/groups/operations.ts";
import type { Fields } from "../read/items.ts";
import type { Deployment } from "./deployment.ts";

/** Saves a group. Its admins are members too, but are listed as admins only. */
export async function saveRemoteGroup(
  { client, workspace }: Deployment,
  name: string,
  wanted: Fields,
  before: Fields | undefined,
): Promise<void> {
  const summary = String(wanted.summary ?? "");
  if (!before) await client.call(createGroup, { workspace, body: { name, summary } });
  else if (before.summary !== wanted.summary)
    await client.call(updateGroup, { workspace, name, body: { summary } });
  // The creator of a group is a member and manager of it.
  const { members = [], extra_perms } = await client.call(getGroup, { workspace, name });
  const admins = Object.keys(extra_perms).filter((who) => extra_perms[who]);
  const isMember = new Set(members);
  const wantedAdmins = toTexts(wanted.admins);
  const wantedMembers = new Set([...toTexts(wanted.members), ...wantedAdmins].map(usernameOf));
  for (const username of wantedMembers) {
    if (!isMember.has(username)) await client.call(addUserToGroup, { workspace, name, body: { username } });
  }
  const target = { workspace, kind: "group_", path: name };
  for (const owner of wantedAdmins) {
    if (!admins.includes(owner)) await client.call(addAcl, { ...target, body: { owner, write: true } });
  }
  // Done last, because callers may remove their own rights.
  for (const username of members) {
    if (!wantedMembers.has(username))
      await client.call(removeUserFromGroup, { workspace, name, body: { username } });
  }
  for (const owner of admins) {
    if (!wantedAdmins.includes(owner)) await client.call(removeAcl, { ...target, body: { owner } });
  }
}

export async function deleteRemoteGroup({ client, workspace }: Deployment, name: string): Promise<void> {
  await client.call(deleteGroupOperation, { workspace, name });
}

const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const usernameOf = (who: string): string => who.replace(/^u\//, "");
