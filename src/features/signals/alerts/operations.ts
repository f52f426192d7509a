import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import { parseSettingValue } from "../../../platform/config/parse-setting.ts";
import type { CriticalChannel } from "../../../platform/config/setting-schemas.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryInteger,
  responds,
} from "../../../platform/http/operation.ts";
import { describeChannel, describeSendFailure, listChannels, sendToChannel } from "./channels.ts";
import { muteCriticalAlerts } from "./mute.ts";
import { acknowledgeAlert, acknowledgeAllAlerts, listAlerts } from "./service.ts";

const CriticalAlert = z.object({
  id: z.number(),
  alert_type: z.string(),
  /** Machine-readable kind, such as `worker_lost`. */
  kind: z.string(),
  message: z.string(),
  workspace_id: z.string().nullable(),
  /** How often it was raised within a day, while it was not acknowledged. */
  count: z.number(),
  created_at: isoTimestamp,
  last_raised_at: isoTimestamp,
  acknowledged: z.boolean(),
  send_failures: z.array(z.object({ channel: z.string(), error: z.string(), at: z.string() })).nullable(),
});

export const listCriticalAlerts = operation({
  name: "getCriticalAlerts",
  method: "GET",
  path: "/settings/critical_alerts",
  access: "devops",
  summary: "List critical alerts, newest first",
  query: z.object({
    page: queryInteger.min(1).max(1_000_000_000).default(1),
    page_size: queryInteger.min(1).max(100).default(10),
    /** Absent or null: all alerts. */
    acknowledged: z
      .union(
        [
          z
            .enum(["true", "false", "null"])
            .transform((text) => (text === "null" ? undefined : text === "true")),
          z.boolean(),
        ],
        { error: "must be true, false or null" },
      )
      .optional(),
  }),
  responds: responds.json(z.array(CriticalAlert)),
  run: (ctx, { query }) => listAlerts(ctx.app, { ...query, acknowledged: query.acknowledged }),
});

const common = {
  method: "POST",
  access: "superAdmin",
  audit: { operation: "alerts.acknowledge", action_kind: "Update" },
  responds: responds.json(z.string()),
} as const;

export const acknowledgeCriticalAlert = operation({
  ...common,
  name: "acknowledgeCriticalAlert",
  path: "/settings/critical_alerts/{id}/acknowledge",
  summary: "Acknowledge a critical alert",
  run: async (ctx, { id }) => {
    if (!/^\d{1,15}$/.test(id))
      throw new BadRequest(`"${id.slice(0, 40)}" is not the id of an alert: it must be a number`);
    await acknowledgeAlert(ctx, Number(id));
    return `critical alert ${id} acknowledged`;
  },
});

export const acknowledgeAllCriticalAlerts = operation({
  ...common,
  name: "acknowledgeAllCriticalAlerts",
  path: "/settings/critical_alerts/acknowledge_all",
  summary: "Acknowledge all critical alerts",
  run: async (ctx) => `${await acknowledgeAllAlerts(ctx)} critical alerts acknowledged`,
});

export const testCriticalChannels = operation({
  name: "testCriticalChannels",
  method: "POST",
  path: "/settings/test_critical_channels",
  access: "superAdmin",
  summary: "Send a test alert to each of the given channels, and report the results",
  body: z.array(z.unknown()).min(1, "must name a channel at least"),
  responds: responds.text("confirmation"),
  audit: { operation: "settings.test_critical_channels", action_kind: "Execute" },
  run: async (ctx, { body }) => {
    const { app } = ctx;
    const channels = listChannels(parseSettingValue("critical_error_channels", body) as CriticalChannel[]);
    const names = channels.map(describeChannel);
    await ctx.write({ parameters: { channels: names.join(", ").slice(0, 500) } }, async () => {});
    const notice = {
      alert_type: "critical_error",
      kind: "trial",
      message: "this is a trial: nothing is wrong",
      workspace_id: null,
      created_at: app.clock(),
    } as const;
    const failures = await Promise.all(
      channels.map((channel) =>
        sendToChannel(app, channel, notice).then(
          () => undefined,
          (cause) => `${describeChannel(channel)}: ${describeSendFailure(cause)}`,
        ),
      ),
    );
    const said = failures.filter((failure) => failure !== undefined);
    if (said.length === 0) return `sent to ${names.join(", ")}`;
    throw new BadRequest(
      `${said.length} of ${channels.length} channels were not reached: ${said.join("; ")}`,
    );
  },
});

export const alertOperations: Operation[] = [
  listCriticalAlerts,
  acknowledgeAllCriticalAlerts,
  acknowledgeCriticalAlert,
  testCriticalChannels,
  muteCriticalAlerts,
];
