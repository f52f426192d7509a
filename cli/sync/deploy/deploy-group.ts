/** Groups: who is in them, and who manages them. */
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

/** Admins of a group are members of it too, and are named among its admins alone. */
export async function saveGroup(
  { client, workspace }: Deployment,
  name: string,
  wanted: Fields,
  before: Fields | undefined,
): Promise<void> {
  const summary = String(wanted.summary ?? "");
  if (!before) await client.call(createGroup, { workspace, body: { name, summary } });
  else if (before.summary !== wanted.summary)
    await client.call(updateGroup, { workspace, name, body: { summary } });
  // Whoever makes a group is in it, and manages it.
  const { members = [], extra_perms } = await client.call(getGroup, { workspace, name });
  const admins = Object.keys(extra_perms).filter((who) => extra_perms[who]);
  const isMember = new Set(members);
  const wantedAdmins = textsOf(wanted.admins);
  const wantedMembers = new Set([...textsOf(wanted.members), ...wantedAdmins].map(usernameOf));
  for (const username of wantedMembers) {
    if (!isMember.has(username)) await client.call(addUserToGroup, { workspace, name, body: { username } });
  }
  const target = { workspace, kind: "group_", path: name };
  for (const owner of wantedAdmins) {
    if (!admins.includes(owner)) await client.call(addAcl, { ...target, body: { owner, write: true } });
  }
  // Last, since whoever does this may take it from themselves.
  for (const username of members) {
    if (!wantedMembers.has(username))
      await client.call(removeUserFromGroup, { workspace, name, body: { username } });
  }
  for (const owner of admins) {
    if (!wantedAdmins.includes(owner)) await client.call(removeAcl, { ...target, body: { owner } });
  }
}

export async function deleteGroup({ client, workspace }: Deployment, name: string): Promise<void> {
  await client.call(deleteGroupOperation, { workspace, name });
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const usernameOf = (who: string): string => who.replace(/^u\//, "");
