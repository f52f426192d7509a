/** Operations on the usage and plan of a workspace. */
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { hasLicense } from "../../tenancy/license/service.ts";
import { editSettings, readSettings } from "../../tenancy/workspaces/settings.ts";
import { getMonthlyUsage } from "../../tenancy/workspaces/usage.ts";
import { findUsedTriggers } from "../trigger-counts/counts.ts";

const base = "/w/{workspace}/workspaces" as const;

const UsedTriggers = z.object({
  http_routes_used: z.boolean(),
  websocket_used: z.boolean(),
  kafka_used: z.boolean(),
  nats_used: z.boolean(),
  postgres_used: z.boolean(),
  mqtt_used: z.boolean(),
  amqp_used: z.boolean(),
  sqs_used: z.boolean(),
  gcp_used: z.boolean(),
  azure_used: z.boolean(),
  email_used: z.boolean(),
});

export const isPremiumWorkspace = operation({
  name: "isPremium",
  method: "GET",
  path: `${base}/is_premium`,
  access: "member",
  summary: "Check whether the workspace is premium: all are if the instance has a license",
  responds: responds.json(z.boolean()),
  run: (ctx) => hasLicense(ctx.app),
});

export const getPremiumInfo = operation({
  name: "getPremiumInfo",
  method: "GET",
  path: `${base}/premium_info`,
  access: "member",
  summary: "Read whether the workspace is premium, and this month's executions",
  responds: responds.json(
    z.object({
      premium: z.boolean(),
      usage: z.number(),
      seats: z.number().optional(),
      automatic_billing: z.boolean(),
    }),
  ),
  run: async (ctx, { workspace }) => {
    const { seats, automatic_billing = false } = await readSettings(ctx.app.db.read, workspace);
    return {
      premium: await hasLicense(ctx.app),
      usage: await getMonthlyUsage(ctx.app, { workspace_id: workspace }),
      ...(seats === undefined ? {} : { seats }),
      automatic_billing,
    };
  },
});

export const setAutomaticBilling = operation({
  name: "setAutomaticBilling",
  method: "POST",
  path: `${base}/set_automatic_billing`,
  access: "admin",
  summary: "Set whether seats are counted automatically, and otherwise their number",
  body: z.object({
    automatic_billing: z.boolean(),
    seats: z.number().int().min(1, "must be 1 or more").max(1_000_000).nullish(),
  }),
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.set_automatic_billing", action_kind: "Update" },
  run: async (ctx, { workspace, body: { automatic_billing, seats } }) => {
    const parameters = { automatic_billing: String(automatic_billing), seats: String(seats ?? "") };
    await editSettings(ctx, { automatic_billing, seats }, parameters);
    return `automatic billing of workspace ${workspace} is ${automatic_billing ? "on" : "off"}`;
  },
});

export const getWorkspaceUsage = operation({
  name: "getWorkspaceUsage",
  method: "GET",
  path: `${base}/usage`,
  access: "member",
  summary: "Read this month's executions: one for every started second of a job",
  responds: responds.json(z.number()),
  run: (ctx, { workspace }) => getMonthlyUsage(ctx.app, { workspace_id: workspace }),
});

export const getUsedTriggers = operation({
  name: "getUsedTriggers",
  method: "GET",
  path: `${base}/used_triggers`,
  access: "member",
  summary: "Read which kinds of triggers the workspace uses",
  responds: responds.json(UsedTriggers),
  run: async (ctx, { workspace }) => UsedTriggers.parse(await findUsedTriggers(ctx.app, workspace)),
});

export const usageOperations: Operation[] = [
  isPremiumWorkspace,
  getPremiumInfo,
  setAutomaticBilling,
  getWorkspaceUsage,
  getUsedTriggers,
];
