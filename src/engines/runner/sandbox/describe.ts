/** Describes the active sandbox restrictions. */
import type { SandboxSettings } from "../types.ts";
import { describeLandlockFeatures } from "./isolation/landlock.ts";
import type { SandboxSupport } from "./support.ts";
import type { OwnUsers, UserPlan } from "./users/child-users.ts";
import { formatRange } from "./users/user-ids.ts";

/** Describes the restrictions in one line. @param plan the user id plan, if the server runs as root */
export function describeSandbox(
  { landlock, seccomp, missing }: SandboxSupport,
  { mode, ports }: Pick<SandboxSettings, "mode" | "ports">,
  plan: UserPlan | undefined,
): string {
  const features = describeLandlockFeatures(landlock);
  const own = plan && "range" in plan ? plan : undefined;
  const parts = [landlock > 0 ? `files (Landlock ${landlock})` : describeFileAccess(own, missing)];
  if (own) parts.push("own user ids");
  if (seccomp) parts.push("system calls", "local sockets");
  if (features.signals) parts.push("signals");
  else if (own) parts.push("signals to other users");
  else if (seccomp) parts.push("signals to the server");
  if (ports !== undefined) parts.push(features.ports ? "TCP ports" : "TCP ports are open: needs Landlock 4");
  if (mode === "bwrap") parts.push("own processes and mounts (bwrap)");
  parts.push("limits");
  return parts.join(", ");
}

function describeFileAccess(own: OwnUsers | undefined, missing: string | undefined): string {
  if (!own) return `files are open: ${missing}`;
  return own.leavesFilesOpen
    ? `files are open: ${missing}, and other users cannot reach ${own.inaccessible_path}`
    : `files that are not open to all users (${missing})`;
}

/** Describes in one line how a server that runs as root treats its scripts. */
export function describeRootPlan(plan: UserPlan): string {
  if ("range" in plan)
    return `as root: each script process runs under a user id of its own (${formatRange(plan.range)}), without root's rights`;
  return `as root, and scripts run as root too (${plan.why}): start the server as a user of its own`;
}
