/**
 * Statistics about the instance: only counts, never names or contents. They are sent only on request, and only if the
 * operator enables them (setting disable_stats is false) and configures a receiver (stats_url).
 */
import { count } from "drizzle-orm";
import { BadRequest } from "../../../lib/errors.ts";
import { INTERFACE_VERSION, VERSION } from "../../../lib/version.ts";
import type { App } from "../../../platform/app/context.ts";
import { operation, responds } from "../../../platform/http/operation.ts";
import { isSuccess, requestConfiguredUrl } from "../../../platform/outgoing/configured-targets.ts";
import { flows } from "../../code/flows/tables.ts";
import { scripts } from "../../code/scripts/tables.ts";
import { readCurrentLicense } from "../../tenancy/license/service.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";

const RESPONSE_TIMEOUT_MS = 10_000;

export interface Statistics {
  instance: string | undefined;
  version: string;
  interface_version: string;
  database: "sqlite" | "postgres";
  platform: string;
  license: string | null;
  users: number;
  workspaces: number;
  /** All versions, superseded ones included. */
  scripts: number;
  flows: number;
}

async function readStatistics(app: App): Promise<Statistics> {
  const rowsOf = async (table: typeof users | typeof workspaces | typeof scripts | typeof flows) => {
    const [row] = await app.db.read.select({ n: count() }).from(table);
    return Number(row?.n ?? 0);
  };
  const { license } = await readCurrentLicense(app);
  return {
    instance: app.settings.get("uid"),
    version: VERSION,
    interface_version: INTERFACE_VERSION,
    database: app.db.dialect,
    platform: `${process.platform}-${process.arch}`,
    license: license?.id ?? null,
    users: await rowsOf(users),
    workspaces: await rowsOf(workspaces),
    scripts: await rowsOf(scripts),
    flows: await rowsOf(flows),
  };
}

export const sendStats = operation({
  name: "sendStats",
  method: "POST",
  path: "/settings/send_stats",
  access: "superAdmin",
  summary: "Send the instance's statistics if enabled; returns them in any case",
  responds: responds.text("whether they were sent, and exactly what they are"),
  audit: { operation: "settings.send_stats", action_kind: "Execute" },
  run: async (ctx) => {
    const { settings } = ctx.app;
    const body = JSON.stringify(await readStatistics(ctx.app), undefined, 2);
    if (settings.get("disable_stats")) {
      return `nothing was sent: statistics are switched off (setting disable_stats). This is what would be sent:\n${body}`;
    }
    const url = settings.get("stats_url");
    if (url === undefined) {
      return `nothing was sent: there is nobody to send to (setting stats_url). This is what would be sent:\n${body}`;
    }
    await ctx.write({ resource: new URL(url).host }, async () => {});
    await sendStatistics(ctx.app, url, body);
    return `sent to ${url}:\n${body}`;
  },
});

async function sendStatistics(app: App, url: string, body: string): Promise<void> {
  const answer = await requestConfiguredUrl(app, {
    url,
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
    timeout_ms: RESPONSE_TIMEOUT_MS,
    max_bytes: 0,
  });
  if (isSuccess(answer)) return;
  throw new BadRequest(`${new URL(url).host} did not accept them: it answered with status ${answer.status}`);
}
