/** Answers a request to a route: finds it, asks who calls, and runs what it names. */

import { BadRequest, Internal, MethodNotAllowed, NotFound, Unauthorized } from "../../../../lib/errors.ts";
import type { App, Context, WorkspaceContext } from "../../../../platform/app/context.ts";
import { errorResponse } from "../../../../platform/http/respond.ts";
import { asSent, runnerOf } from "../../../runs/arguments/caller-references.ts";
import { discardUploads } from "../../../runs/arguments/form-data.ts";
import { resultResponse } from "../../../runs/follow/response-control.ts";
import { submitAndStream } from "../../../runs/follow/stream-answers.ts";
import { runnableSubmission, type Submission } from "../../../runs/submit/submission.ts";
import { refuseBeyond, submitJob } from "../../../runs/submit/submit.ts";
import { preprocessorOf, type Runnable, resolveTarget, targetAt } from "../../../runs/submit/target.ts";
import { contextOf } from "../../../runs/submit/triggered.ts";
import { refuseWhenFull, submitAndWait } from "../../../runs/submit/wait.ts";
import type { Match } from "../routes.ts";
import { routesOf } from "../table.ts";
import type { HttpTrigger } from "../tables.ts";
import { serveFile } from "./assets.ts";
import { authenticate } from "./authentication.ts";
import { type Asked, inputOf } from "./input.ts";

const ROOT = "/api/r/";

/** @throws NotFound, MethodNotAllowed, and whatever is wrong with the request or with what it asks for */
export async function serveRoute(ctx: Context): Promise<Response> {
  const { app, request } = ctx;
  const path = new URL(request.url).pathname.slice(ROOT.length);
  const match = await matchOf(app, request.method, path);
  const { route } = match;
  const owner = await ownerOf(ctx, route);
  const limit = app.settings.get("request_size_limit_mb") * 1_000_000;
  try {
    const proven = await authenticate(ctx, owner, route, limit);
    const { static_asset_config } = route;
    if (static_asset_config) {
      return await serveFile(owner, request, { ...route, static_asset_config }, match.below);
    }
    const asked = { params: match.params, path: `/${path}`, secret_header: proven.header };
    return await run(owner, proven.request, route, asked, limit);
  } catch (cause) {
    if (!(cause instanceof Unauthorized) || route.authentication_method !== "basic_http") throw cause;
    const refused = errorResponse(cause, request.headers.get("accept"));
    // A browser asks the person for both when it is told so.
    refused.headers.set("www-authenticate", 'Basic realm="route", charset="UTF-8"');
    return refused;
  }
}

async function matchOf(app: App, method: string, path: string): Promise<Match<HttpTrigger>> {
  // A slash at the end changes nothing; one inside of a part comes percent-encoded, and stays inside.
  const parts = path.replace(/\/$/, "").split("/").map(decodeURIComponent);
  const { table } = await routesOf(app);
  // RFC 9110 §9.3.2: the same without its content.
  const match = table.find(method === "HEAD" ? "get" : method.toLowerCase(), parts);
  if (match) return match;
  const others = table.methodsAt(parts).map((other) => other.toUpperCase());
  if (others.length === 0) throw new NotFound(`there is no route ${method} ${ROOT}${path}`);
  const allow = others.join(", ");
  throw new MethodNotAllowed(`there is no ${method} ${ROOT}${path}, only ${allow}`, allow);
}

/** In whose name it runs. What is wrong there is told to the log: callers need not know who that is. */
async function ownerOf(ctx: Context, { workspace_id, email, path }: HttpTrigger): Promise<WorkspaceContext> {
  const trigger = { workspace_id, email, kind: "http", created_by: `http-${path}` } as const;
  try {
    const { request, request_id } = ctx;
    return { ...(await contextOf(ctx.app, trigger)), request, request_id };
  } catch (cause) {
    throw inDisorder(ctx.app, cause, workspace_id, path);
  }
}

/** @throws Internal when there is no such script or flow any more, or not for whoever set up the route */
async function targetOf(owner: WorkspaceContext, route: HttpTrigger): Promise<Runnable> {
  const { workspace_id, path } = route;
  try {
    return await resolveTarget(owner, targetAt(route.script_path, route.is_flow));
  } catch (cause) {
    throw inDisorder(owner.app, cause, workspace_id, path);
  }
}

function inDisorder(app: App, cause: unknown, workspace: string, route: string): unknown {
  if (!(cause instanceof BadRequest) && !(cause instanceof NotFound)) return cause;
  app.log.warn({ workspace, route, error: cause.message }, "an HTTP route could not start what it runs");
  return new Internal("this route cannot run what it is set up for; the server's log says why");
}

async function run(
  owner: WorkspaceContext,
  request: Request,
  route: HttpTrigger,
  asked: Asked,
  limit: number,
): Promise<Response> {
  const { app } = owner;
  const isSync = route.request_type === "sync";
  if (isSync) {
    refuseWhenFull(app);
    if (app.config.queue_limit) await refuseBeyond(owner, app.config.queue_limit);
  }
  const submission = await submissionOf(owner, request, route, asked, limit);
  if (route.request_type === "async") {
    const { id } = await submitJob(owner, submission, {});
    return new Response(id, { status: 201, headers: { "content-type": "text/plain; charset=utf-8" } });
  }
  if (!isSync) return submitAndStream(owner, submission, {});
  const { result, status } = await submitAndWait(owner, submission, {});
  const failed = status === "failure" || status === "canceled";
  return resultResponse(result, { failed, errorStatus: 500 });
}

async function submissionOf(
  owner: WorkspaceContext,
  request: Request,
  route: HttpTrigger,
  asked: Asked,
  limit: number,
): Promise<Submission> {
  const found = await targetOf(owner, route);
  const made = await inputOf({ ctx: owner, request, limit }, route, asked, preprocessorOf(found));
  try {
    const args = await asSent(owner.app, owner.caller.member, made.args);
    const submission = await runnableSubmission(owner, found, args, {});
    const runner = runnerOf(owner, submission.runs_as);
    submission.preprocessor_input =
      made.preprocessor_input && (await asSent(owner.app, runner, made.preprocessor_input));
    submission.trigger = { kind: "http", created_by: owner.username };
    if (route.request_type !== "sync") submission.delete_after_use = false;
    return submission;
  } catch (error) {
    await discardUploads(owner.request);
    throw error;
  }
}
