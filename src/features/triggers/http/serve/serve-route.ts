/**
 * Serves a request to an HTTP route: finds the route, authenticates the caller, and runs the target. All routes are
 * in memory (../route-table.ts). `authentication.ts` checks the caller, `input.ts` creates the arguments or
 * `assets.ts` serves a file, and runs/submit/submit.ts starts the job. ../route-conflicts.ts defines which routes may
 * coexist.
 */

import { BadRequest, Internal, MethodNotAllowed, NotFound, Unauthorized } from "../../../../lib/errors.ts";
import type { App, Context, WorkspaceContext } from "../../../../platform/app/context.ts";
import { createErrorResponse } from "../../../../platform/http/respond.ts";
import { determineRunAs, escapeReferences } from "../../../runs/arguments/caller-references.ts";
import { discardUploads } from "../../../runs/arguments/form-data.ts";
import { createResultResponse } from "../../../runs/follow/response-control.ts";
import { submitAndStream } from "../../../runs/follow/stream-responses.ts";
import { addRetries } from "../../../runs/submit/retrying.ts";
import { createSubmission, type Submission } from "../../../runs/submit/submission.ts";
import { requireQueueBelow, submitJob } from "../../../runs/submit/submit.ts";
import {
  awaitTarget,
  findPreprocessorParameters,
  type Runnable,
  toTarget,
} from "../../../runs/submit/target.ts";
import { createTriggerContext } from "../../../runs/submit/triggered.ts";
import { requireWaitCapacity, submitAndWait } from "../../../runs/submit/wait.ts";
import { getActiveRoutes } from "../active-routes.ts";
import type { RouteMatch } from "../route-table.ts";
import type { HttpTrigger } from "../tables.ts";
import { serveFile } from "./assets.ts";
import { authenticateRequest } from "./authentication.ts";
import { type RouteRequest, readRouteInput } from "./input.ts";

const ROUTE_PREFIX = "/api/r/";

/** Serves a request to an HTTP route. @throws NotFound, MethodNotAllowed, and errors of the request or its target */
export async function serveRoute(ctx: Context): Promise<Response> {
  const { app, request } = ctx;
  const path = new URL(request.url).pathname.slice(ROUTE_PREFIX.length);
  const match = await findMatch(app, request.method, path);
  const { route } = match;
  const owner = await createOwnerContext(ctx, route);
  const limit = app.settings.get("request_size_limit_mb") * 1_000_000;
  try {
    const proven = await authenticateRequest(ctx, owner, route, limit);
    const { static_asset_config } = route;
    if (static_asset_config) {
      return await serveFile(owner, request, { ...route, static_asset_config }, match.below);
    }
    const asked = { params: match.params, path: `/${path}`, secret_header: proven.header };
    return await runRoute(owner, proven.request, route, asked, limit);
  } catch (cause) {
    if (!(cause instanceof Unauthorized) || route.authentication_method !== "basic_http") throw cause;
    const refused = createErrorResponse(cause, request.headers.get("accept"));
    // Makes browsers prompt for a username and password.
    refused.headers.set("www-authenticate", 'Basic realm="route", charset="UTF-8"');
    return refused;
  }
}

async function findMatch(app: App, method: string, path: string): Promise<RouteMatch<HttpTrigger>> {
  // A trailing slash is ignored; a percent-encoded slash stays inside its part.
  const parts = path.replace(/\/$/, "").split("/").map(decodeURIComponent);
  const { table } = await getActiveRoutes(app);
  // RFC 9110 §9.3.2: HEAD is GET without content.
  const match = table.find(method === "HEAD" ? "get" : method.toLowerCase(), parts);
  if (match) return match;
  const others = table.methodsAt(parts).map((other) => other.toUpperCase());
  if (others.length === 0) throw new NotFound(`there is no route ${method} ${ROUTE_PREFIX}${path}`);
  const allow = others.join(", ");
  throw new MethodNotAllowed(`there is no ${method} ${ROUTE_PREFIX}${path}, only ${allow}`, allow);
}

/**
 * Creates the context of the user as whom the route runs. Errors go to the log, because callers need not know that
 * user.
 */
async function createOwnerContext(
  ctx: Context,
  { workspace_id, email, path }: HttpTrigger,
): Promise<WorkspaceContext> {
  const trigger = { workspace_id, email, kind: "http", created_by: `http-${path}` } as const;
  try {
    const { request, request_id } = ctx;
    return { ...(await createTriggerContext(ctx.app, trigger)), request, request_id };
  } catch (cause) {
    throw logBrokenRoute(ctx.app, cause, workspace_id, path);
  }
}

/**
 * Finds the script or flow of a route with its owner's rights.
 * @throws Internal if the script or flow is gone, or no longer readable by the route's owner
 */
async function resolveRouteTarget(owner: WorkspaceContext, route: HttpTrigger): Promise<Runnable> {
  const { workspace_id, path } = route;
  try {
    return await awaitTarget(owner, toTarget(route.script_path, route.is_flow));
  } catch (cause) {
    throw logBrokenRoute(owner.app, cause, workspace_id, path);
  }
}

function logBrokenRoute(app: App, cause: unknown, workspace: string, route: string): unknown {
  if (!(cause instanceof BadRequest) && !(cause instanceof NotFound)) return cause;
  app.log.warn({ workspace, route, error: cause.message }, "an HTTP route could not start its target");
  return new Internal("this route cannot run its script or flow; the server's log says why");
}

async function runRoute(
  owner: WorkspaceContext,
  request: Request,
  route: HttpTrigger,
  asked: RouteRequest,
  limit: number,
): Promise<Response> {
  const { app } = owner;
  const isSync = route.request_type === "sync";
  if (isSync) {
    requireWaitCapacity(app);
    if (app.config.queue_limit) await requireQueueBelow(owner, app.config.queue_limit);
  }
  const submission = await createRouteSubmission(owner, request, route, asked, limit);
  if (route.request_type === "async") {
    const { id } = await submitJob(owner, submission, {});
    return new Response(id, { status: 201, headers: { "content-type": "text/plain; charset=utf-8" } });
  }
  if (!isSync) return submitAndStream(owner, submission, {});
  const { result, status } = await submitAndWait(owner, submission, {});
  const failed = status === "failure" || status === "canceled";
  return createResultResponse(result, { failed, errorStatus: 500 });
}

async function createRouteSubmission(
  owner: WorkspaceContext,
  request: Request,
  route: HttpTrigger,
  asked: RouteRequest,
  limit: number,
): Promise<Submission> {
  const found = await resolveRouteTarget(owner, route);
  const made = await readRouteInput(
    { ctx: owner, request, limit },
    route,
    asked,
    findPreprocessorParameters(found),
  );
  try {
    const args = await escapeReferences(owner.app, owner.caller.member, made.args);
    const has_preprocessor_input = made.preprocessor_input !== undefined;
    const submission = await createSubmission(owner, found, args, { has_preprocessor_input });
    const runner = determineRunAs(owner, submission.runs_as);
    submission.preprocessor_input =
      made.preprocessor_input && (await escapeReferences(owner.app, runner, made.preprocessor_input));
    submission.trigger = { kind: "http", created_by: owner.username };
    if (route.request_type !== "sync") submission.delete_after_use = false;
    return addRetries(submission, found, route.retry);
  } catch (error) {
    await discardUploads(owner.request);
    throw error;
  }
}
