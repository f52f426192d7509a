/** Mounts operations on h3. Knows no feature: what it must ask one is handed in as hooks. */
import { H3 } from "h3";
import { isOutage } from "../../database/failure.ts";
import { BadRequest, CallerGone, StorageFull, SvcError, Unavailable } from "../../lib/errors.ts";
import type { App, Identity } from "../app/context.ts";
import { createFrontDoor, type FrontDoor } from "./door/anonymous-guard.ts";
import { readToken, type Site } from "./door/credentials.ts";
import { addressOf, trustProxies } from "./door/proxies.ts";
import { requestId } from "./door/request-id.ts";
import { authorize, execute, type Hooks } from "./execute.ts";
import { parseBody, parseQuery, refuseNul } from "./input.ts";
import { leaveBody } from "./large-bodies.ts";
import { type Operation, rootOf } from "./operation.ts";
import { describeError, errorResponse, successResponse } from "./respond.ts";
import { finisher } from "./response-headers.ts";
import { createUnrouted, toRoute, type Unrouted } from "./unknown-routes.ts";

interface Mounted {
  /** Handles a request; `identity` is given when the way in already says who calls (the operator's socket). */
  fetch: (request: Request) => Response | Promise<Response>;
}

/**
 * @param identify settles who calls for every request of this mount; undefined reads credentials from the request
 */
export function mount(
  app: App,
  hooks: Hooks,
  operations: readonly Operation[],
  identify?: () => Identity,
): Mounted {
  // What is malformed in a URL is told by `decode`, in this interface's own form.
  const h3 = new H3({ allowMalformedURL: true });
  const proxies = trustProxies(app.config.trusted_proxies);
  const site: Site = {
    proxies,
    get origin() {
      return originOf(app.settings.get("base_url"));
    },
  };
  const door = createFrontDoor(app, site);
  const delivered = new Set(operations.filter(isDelivery).map((op) => op.path));
  const handlers = new Map<Operation, ReturnType<typeof toHandler>>();
  for (const op of operations) {
    const handle = toHandler(app, hooks, op, door, site, identify);
    handlers.set(op, handle);
    const finish = finisher(app, proxies, op);
    const route = rootOf(op) + toRoute(op.path);
    const answer = (event: { req: Request; context: { params?: Record<string, string> } }) =>
      handle(event.req, event.context.params ?? {});
    h3.on(op.method, route, answer);
    if (op.cors) {
      const plainly = (status: number) => (event: { req: Request }) => {
        const response = new Response(null, { status });
        finish(event.req, requestId(event.req), response);
        if (delivered.has(op.path)) consent(event.req, response);
        return response;
      };
      h3.on("OPTIONS", route, plainly(204));
      if (op.cors === "any method") {
        if (op.method === "GET") h3.on("HEAD", route, answer);
      } else if (op.method !== "GET") h3.on("HEAD", route, plainly(200));
    }
  }
  const finish = finisher(app, proxies, undefined);
  let unrouted: Unrouted | undefined;
  h3.all("/**", (event) => {
    // Made when it is first needed: most servers are asked for what they have.
    unrouted ??= createUnrouted(operations);
    const { method } = event.req;
    const { pathname } = event.url;
    const slashed = unrouted.withExtraSlash(method, pathname);
    if (slashed) return handlers.get(slashed.op)!(event.req, slashed.parameters);
    const error = (identify ? undefined : door.tooMany(event.req)) ?? unrouted.noRoute(method, pathname);
    const response = errorResponse(error, event.req.headers.get("accept"));
    finish(event.req, requestId(event.req), response);
    return response;
  });
  const fetch = h3.fetch as Mounted["fetch"];
  if (app.config.trusted_proxies === undefined) return { fetch };
  return {
    fetch(request) {
      proxies.settle(request);
      return fetch(request);
    },
  };
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Events are sent to what anybody may call by POST. */
function isDelivery(op: Operation): boolean {
  return op.cors !== undefined && op.cors !== false && op.method === "POST";
}

/**
 * Answers a sender that asks whether it may deliver here (CloudEvents webhooks 1.0.2 §4.2): any may, at any rate. Who
 * may run what is still the token's to say.
 */
function consent(request: Request, response: Response): void {
  const origin = request.headers.get("webhook-request-origin");
  if (origin === null) return;
  response.headers.set("webhook-allowed-origin", origin);
  response.headers.set("webhook-allowed-rate", "*");
  if (request.method === "OPTIONS") response.headers.set("allow", "POST");
}

function toHandler(
  app: App,
  hooks: Hooks,
  op: Operation,
  door: FrontDoor,
  site: Site,
  identify: (() => Identity) | undefined,
) {
  const finish = finisher(app, site.proxies, op);
  const admit = door.of(op);
  const access = accessLog(app, op);
  return async (request: Request, parameters: Record<string, string>): Promise<Response> => {
    const began = access && performance.now();
    const id = requestId(request);
    let response: Response;
    try {
      const search = searchOf(request.url);
      const named: Record<string, string> = {};
      for (const name in parameters) named[name] = decode(parameters[name]!);
      let identity = identify?.();
      if (!identity) {
        const token = readToken(request, search, site, op.cookie);
        if (token !== undefined) {
          const found = hooks.resolveToken(app, token);
          identity =
            found instanceof Promise ? await (op.uncounted ? found.catch(unknownTo(app)) : found) : found;
        }
        // Before anything is read of what an unknown caller sends.
        if (!identity) await admit(request, token);
      }
      const authorized = authorize(app, hooks, op, identity, named);
      const caller = authorized instanceof Promise ? await authorized : authorized;
      const input: Record<string, unknown> = named;
      if (op.query) input.query = parseQuery(op, search);
      if (op.body)
        input.body = await parseBody(op, request, app.settings.get("request_size_limit_mb") * 1_000_000);
      const value = await execute(app, hooks, op, { caller, input, request, request_id: id });
      // Whoever is told of a change must be able to rely on it.
      if (!op.ownWrites) await app.db.settled();
      response = successResponse(op.responds, value);
    } catch (thrown) {
      const error = toError(thrown, request);
      logFailure(app, op, id, error);
      // A refused flush is told to whoever wrote; this call has an error of its own to tell.
      await app.db.settled()?.catch(() => {});
      response = errorResponse(error, request.headers.get("accept"));
    }
    leaveBody(request);
    finish(request, id, response);
    if (isDelivery(op)) consent(request, response);
    if (access) access(request, id, parameters, response, performance.now() - began!);
    return response;
  };
}

/** Probes are answered whatever else is wrong: where the database does not say whose a token is, it is nobody's. */
function unknownTo(app: App): (cause: unknown) => undefined {
  return (cause) => {
    app.log.debug({ error: String((cause as Error).message) }, "a probe's token could not be looked up");
  };
}

/**
 * A line for each request of an operation, where the log's level asks for it. The route stands for the path, which may
 * hold a signature or the token of a link.
 */
function accessLog(app: App, op: Operation) {
  if (!app.log.isLevelEnabled("debug")) return undefined;
  const route = rootOf(op) + op.path;
  return (
    request: Request,
    request_id: string,
    { workspace }: Record<string, string>,
    { status, headers }: Response,
    ms: number,
  ) => {
    const job = headers.get("svc-job-id") ?? undefined;
    const address = addressOf(request);
    const fields = { request_id, method: request.method, route, status, workspace, job, address };
    app.log.debug({ ...fields, ms: Math.round(ms * 100) / 100 }, "request");
  };
}

/** What is answered, where a failure of ours is really the caller's, or may pass. */
function toError(thrown: unknown, request: Request): unknown {
  // A body that is read after its sender has gone.
  if (request.signal.aborted && (thrown as Error | undefined)?.name === "AbortError")
    return new CallerGone("the connection was closed before the body had come", { cause: thrown });
  if (thrown instanceof Unavailable || thrown instanceof StorageFull || !isOutage(thrown)) return thrown;
  // The same call may succeed later: senders and balancers try again.
  return new Unavailable("the database cannot be used now: try again", { cause: thrown });
}

function logFailure(app: App, op: Operation, request_id: string, error: unknown): void {
  const shape = describeError(error);
  if (shape.status < 500) return;
  const cause = error instanceof SvcError ? error.cause : error;
  // A failed query quotes its parameters: only what the database itself said of it is told.
  const said = cause instanceof Error && "params" in cause ? cause.cause : cause;
  const detail = said instanceof Error ? { error: said.message, stack: said.stack } : {};
  app.log.error({ request_id, operation: op.name, name: shape.name, ...detail }, shape.message);
}

function searchOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at);
}

function decode(text: string): string {
  if (!text.includes("%")) return text.startsWith("/") ? text.slice(1) : text;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new BadRequest(`"${text}" in the URL is not percent-encoded text (RFC 3986 §2.1)`);
  }
  refuseNul("URL", decoded);
  return decoded.replace(/^\//, "");
}
