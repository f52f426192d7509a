/** Operations for load balancers and monitoring: health probes and metrics. */
import { timingSafeEqual } from "node:crypto";
import { Forbidden, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { Context } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { renderMetrics } from "./metrics.ts";
import { checkReadiness, readDetails } from "./readiness.ts";

/**
 * Whether the caller is a super admin, devops, or the local admin, with a token that is not bound to a workspace or
 * job.
 */
function isInstanceStaff({ caller }: Context): boolean {
  const { identity } = caller;
  if (!identity || identity.token?.workspace_id !== undefined || identity.token?.job) return false;
  return identity.super_admin || identity.devops;
}

const JSON_HEADERS = { "content-type": "application/json", "cache-control": "no-store" };

export const getHealth = operation({
  name: "getHealth",
  method: "GET",
  path: "/health",
  access: "anyone",
  exemptFromRateLimit: true,
  scope: false,
  skipsReadBarrier: true,
  summary:
    "Report whether the server is ready (200) or why not (503); with details for devops users and super admins",
  responds: responds.raw(
    "application/json",
    "status, failing checks, and, for devops users and super admins, details",
  ),
  run: async (ctx) => {
    const { ready, checks } = await checkReadiness(ctx.app);
    const health = {
      status: ready ? "ready" : "unready",
      failing: checks.filter((check) => !check.ok).map((check) => check.name),
      ...(isInstanceStaff(ctx) ? { checks, details: await readDetails(ctx.app) } : {}),
    };
    return new Response(JSON.stringify(health), { status: ready ? 200 : 503, headers: JSON_HEADERS });
  },
});

export const getLiveness = operation({
  name: "getLiveness",
  method: "GET",
  path: "/health/live",
  access: "anyone",
  exemptFromRateLimit: true,
  scope: false,
  skipsReadBarrier: true,
  summary: "Report that the process is alive, whatever else is wrong",
  responds: responds.raw("application/json", "always the same"),
  run: () => new Response('{"status":"live"}', { headers: JSON_HEADERS }),
});

export const getMetrics = operation({
  name: "getMetrics",
  method: "GET",
  path: "/metrics",
  access: "anyone",
  exemptFromRateLimit: true,
  skipsReadBarrier: true,
  scope: { domain: "metrics", action: "read" },
  summary:
    "Read the figures of this server in the text format of Prometheus; SVC_METRICS=off switches it off",
  responds: responds.raw("text/plain", "Prometheus text format 0.0.4"),
  run: async (ctx) => {
    const { metrics, metrics_token } = ctx.app.config;
    if (metrics === "off") throw new NotFound("metrics are switched off (SVC_METRICS=off)");
    if (ctx.app.settings.get("expose_metrics") === false) {
      throw new NotFound("metrics are switched off (setting expose_metrics)");
    }
    if (!isInstanceStaff(ctx) && !hasMetricsToken(ctx, metrics_token)) {
      if (!ctx.caller.identity)
        throw new Unauthorized("a super admin's token or SVC_METRICS_TOKEN is needed");
      throw new Forbidden("this needs a super admin, devops, or SVC_METRICS_TOKEN");
    }
    const { text, type } = await renderMetrics(ctx.app);
    return new Response(text, { headers: { "content-type": type, "cache-control": "no-store" } });
  },
});

function hasMetricsToken({ request }: Context, expected: string | undefined): boolean {
  const given = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return expected !== undefined && given !== undefined && isEqualInConstantTime(given.trim(), expected);
}

/** Compares texts in constant time. */
function isEqualInConstantTime(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(expected)));
}

export const healthOperations: Operation[] = [getHealth, getLiveness, getMetrics];
