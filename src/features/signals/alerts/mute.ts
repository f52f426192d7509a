import * as z from "../../../lib/zod/z.ts";
import { operation, responds } from "../../../platform/http/operation.ts";
import { editSettings } from "../../tenancy/workspaces/settings.ts";

export const muteCriticalAlerts = operation({
  name: "workspaceMuteCriticalAlertsUi",
  method: "POST",
  path: "/w/{workspace}/workspaces/critical_alerts/mute",
  access: "admin",
  summary:
    "Have the workspace's critical alerts stand as acknowledged from the start; the instance's channels hear of them all the same",
  body: z.object({ mute_critical_alerts: z.boolean().nullish() }),
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.mute_critical_alerts", action_kind: "Update" },
  run: async (ctx, { workspace, body }) => {
    const muted = body.mute_critical_alerts ?? false;
    await editSettings(ctx, { mute_critical_alerts: muted || undefined }, { muted: String(muted) });
    return `critical alerts of workspace ${workspace} are ${muted ? "muted" : "no longer muted"}`;
  },
});
