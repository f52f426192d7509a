/** What holds around scripts on a machine, in words. */
import type { SandboxChoice } from "../types.ts";
import type { SandboxSupport } from "./support.ts";
import type { OwnUsers, UserPlan } from "./users/child-users.ts";
import { rangeText } from "./users/user-ids.ts";
import { wallsOf } from "./walls/landlock.ts";

/** What holds with this support, in one line for people. @param plan of the users, where the server is the superuser */
export function whatHolds(
  { landlock, seccomp, missing }: SandboxSupport,
  { mode, ports }: Pick<SandboxChoice, "mode" | "ports">,
  plan: UserPlan | undefined,
): string {
  const walls = wallsOf(landlock);
  const own = plan && "range" in plan ? plan : undefined;
  const parts = [landlock > 0 ? `files (Landlock ${landlock})` : filesWithoutLandlock(own, missing)];
  if (own) parts.push("own user ids");
  if (seccomp) parts.push("system calls", "local sockets");
  if (walls.signals) parts.push("signals");
  else if (own) parts.push("signals to other users");
  else if (seccomp) parts.push("signals to the server");
  if (ports !== undefined) parts.push(walls.ports ? "TCP ports" : "TCP ports are open: needs Landlock 4");
  if (mode === "bwrap") parts.push("own processes and mounts (bwrap)");
  parts.push("limits");
  return parts.join(", ");
}

function filesWithoutLandlock(own: OwnUsers | undefined, missing: string | undefined): string {
  if (!own) return `files are open: ${missing}`;
  return own.leavesFilesOpen
    ? `files are open: ${missing}, and other users cannot reach ${own.closed}`
    : `files that are not open to all users (${missing})`;
}

/** What a server of the superuser does about its scripts, in one line for people. */
export function whatRootDoes(plan: UserPlan): string {
  if ("range" in plan)
    return `as root: each script process runs under a user id of its own (${rangeText(plan.range)}), without root's rights`;
  return `as root, and scripts run as root too (${plan.why}): start the server as a user of its own`;
}
