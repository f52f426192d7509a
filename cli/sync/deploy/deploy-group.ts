/** Deploys groups: members and managers. */
import {
  addAcl,
  addUserToGroup,
  createGroup,
  deleteGroup as deleteGroupOperation,
  getGroup,
  removeAcl,
  removeUserFromGroup,
  updateGroup,
} from "../../client/operations/accounts.ts";
import { CliError, EXIT_CODES } from "../../terminal/text/failure.ts";
import type { Fields } from "../read/items.ts";
import type { Deployment } from "./deployment.ts";

/**
 * Saves a group. Its admins are members too, but are listed as admins only.
 * @throws CliError that names the members and admins who are no users; the others are saved
 */
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
  const reasons = new Map<string, string>();
  const keepReason = (username: string) => (cause: unknown) => {
    if (!(cause instanceof CliError) || cause.exit_code === EXIT_CODES.unreachable) throw cause;
    reasons.set(username, cause.message);
  };
  for (const username of wantedMembers) {
    if (!isMember.has(username))
      await client.call(addUserToGroup, { workspace, name, body: { username } }).catch(keepReason(username));
  }
  const target = { workspace, kind: "group_", path: name };
  for (const owner of wantedAdmins) {
    if (admins.includes(owner) || reasons.has(usernameOf(owner))) continue;
    await client.call(addAcl, { ...target, body: { owner, write: true } }).catch(keepReason(owner));
  }
  // Done last, because callers may remove their own rights.
  for (const username of members) {
    if (!wantedMembers.has(username))
      await client.call(removeUserFromGroup, { workspace, name, body: { username } });
  }
  for (const owner of admins) {
    if (!wantedAdmins.includes(owner)) await client.call(removeAcl, { ...target, body: { owner } });
  }
  if (reasons.size > 0)
    throw new CliError("BadRequest", `saved without some: ${[...reasons.values()].join("; ")}`);
}

export async function deleteRemoteGroup({ client, workspace }: Deployment, name: string): Promise<void> {
  await client.call(deleteGroupOperation, { workspace, name });
}

const toTexts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const usernameOf = (who: string): string => who.replace(/^u\//, "");
