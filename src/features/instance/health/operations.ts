/** Probes and metrics: what load balancers and monitoring ask for. */
import { timingSafeEqual } from "node:crypto";
import { Forbidden, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { Context } from "../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { metricsText } from "./metrics.ts";
import { details, readiness } from "./readiness.ts";

/** Super admins, the instance's devops people and the operator; a token bound to a workspace is none of theirs. */
function runsTheInstance({ caller }: Context): boolean {
  const { identity } = caller;
  if (!identity || identity.token?.workspace_id !== undefined || identity.token?.job) return false;
  return identity.super_admin || identity.devops;
}

const headers = { "content-type": "application/json", "cache-control": "no-store" };

export const getHealth = operation({
  name: "getHealth",
  method: "GET",
  path: "/health",
  access: "anyone",
  uncounted: true,
  scope: false,
  ownWrites: true,
  summary: "Say whether the server is ready (200) or what is in the way (503); more to who runs the instance",
  responds: responds.raw("application/json", "status, failing checks, and details for who runs the instance"),
  run: async (ctx) => {
    const { ready, checks } = await readiness(ctx.app);
    const health = {
      status: ready ? "ready" : "unready",
      failing: checks.filter((check) => !check.ok).map((check) => check.name),
      ...(runsTheInstance(ctx) ? { checks, details: await details(ctx.app) } : {}),
    };
    return new Response(JSON.stringify(health), { status: ready ? 200 : 503, headers });
  },
});

export const getLiveness = operation({
  name: "getLiveness",
  method: "GET",
  path: "/health/live",
  access: "anyone",
  uncounted: true,
  scope: false,
  ownWrites: true,
  summary: "Say that the process answers, whatever else is wrong: a server to be restarted does not",
  responds: responds.raw("application/json", "always the same"),
  run: () => new Response('{"status":"live"}', { headers }),
});

export const getMetrics = operation({
  name: "getMetrics",
  method: "GET",
  path: "/metrics",
  access: "anyone",
  uncounted: true,
  ownWrites: true,
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
    if (!runsTheInstance(ctx) && !hasToken(ctx, metrics_token)) {
      if (!ctx.caller.identity)
        throw new Unauthorized("a super admin's token or SVC_METRICS_TOKEN is needed");
      throw new Forbidden("this needs a super admin, devops, or SVC_METRICS_TOKEN");
    }
    const { text, type } = await metricsText(ctx.app);
    return new Response(text, { headers: { "content-type": type, "cache-control": "no-store" } });
  },
});

function hasToken({ request }: Context, expected: string | undefined): boolean {
  const given = /^bearer (.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1];
  return expected !== undefined && given !== undefined && isSame(given.trim(), expected);
}

/** Takes as long whatever they share. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(expected)));
}

export const healthOperations: Operation[] = [getHealth, getLiveness, getMetrics];
