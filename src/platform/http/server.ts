/** Mounts operations on h3. Knows no feature: policies of features are passed in. */
import { H3 } from "h3";
import { isOutage } from "../../database/failure.ts";
import { memoize } from "../../lib/collections/memoize.ts";
import { BadRequest, CallerGone, StorageFull, SvcError, Unavailable } from "../../lib/errors.ts";
import type { App, Identity } from "../app/context.ts";
import { authorizeCall, executeOperation, type OperationPolicies } from "./execute.ts";
import { type AnonymousGuard, createAnonymousGuard } from "./guards/anonymous-guard.ts";
import { readToken, type Site } from "./guards/credentials.ts";
import { getCallerAddress, parseTrustedProxies } from "./guards/proxies.ts";
import { resolveRequestId } from "./guards/request-id.ts";
import { parseBody, parseQuery, requireNoNul } from "./input.ts";
import { createKnownUrls } from "./known-urls.ts";
import { releaseBodySlot } from "./large-bodies.ts";
import { getBasePath, type Operation } from "./operation.ts";
import { createErrorResponse, createSuccessResponse, describeError } from "./respond.ts";
import { createResponseFinisher } from "./response-headers.ts";
import { createUnknownRoutes, findNoun, toRouterPath, type UnknownRoutes } from "./unknown-routes.ts";

export interface MountedServer {
  /** Handles a request. */
  fetch: (request: Request) => Response | Promise<Response>;
}

/** What the router passes on. */
interface RoutedEvent {
  req: Request;
  context: { params?: Record<string, string> };
}

export interface MountOptions {
  /** Identifies the caller of every request of this mount (the local socket); omitted: by its credentials. */
  identify?: (request: Request) => Identity | Promise<Identity>;
  /** Answers requests that match no operation; undefined for a plain 404. */
  fallback?: (request: Request, pathname: string) => Promise<Response> | undefined;
}

export function mountOperations(
  app: App,
  hooks: OperationPolicies,
  operations: readonly Operation[],
  { identify, fallback }: MountOptions = {},
): MountedServer {
  // `decodePathParameter` reports malformed URLs in the error format of this interface.
  const h3 = new H3({ allowMalformedURL: true });
  const proxies = parseTrustedProxies(app.config.trusted_proxies);
  const site: Site = {
    proxies,
    get origin() {
      return originOf(app.settings.get("base_url"));
    },
  };
  const guard = createAnonymousGuard(app, site);
  const known = createKnownUrls();
  const handlerOf = memoize((op: Operation) => toHandler(app, hooks, op, guard, site, identify));

  function addRoutes(router: H3, op: Operation, isDelivered: boolean): void {
    const handle = handlerOf(op);
    const finish = createResponseFinisher(app, proxies, op);
    const route = getBasePath(op) + toRouterPath(op.path);
    const answer = (event: RoutedEvent) => {
      const parameters = event.context.params ?? {};
      if (acceptsWebhooks(op) && event.req.method === op.method)
        known.remember(event.req, (request) => handle(request, parameters));
      return handle(event.req, parameters);
    };
    router.on(op.method, route, answer);
    if (!op.cors) return;
    const plainly = (status: number) => (event: RoutedEvent) => {
      const response = new Response(null, { status });
      finish(event.req, resolveRequestId(event.req), response);
      if (isDelivered) allowWebhookSender(event.req, response);
      return response;
    };
    router.on("OPTIONS", route, plainly(204));
    if (op.cors === "any method") {
      if (op.method === "GET") router.on("HEAD", route, answer);
    } else if (op.method !== "GET") router.on("HEAD", route, plainly(200));
  }

  const finish = createResponseFinisher(app, proxies, undefined);
  let unrouted: UnknownRoutes | undefined;
  const answerUnknown = (event: RoutedEvent & { url: URL }) => {
    // Created on first use: most servers only receive known routes.
    unrouted ??= createUnknownRoutes(operations);
    const { method } = event.req;
    const { pathname } = event.url;
    const slashed = unrouted.findWithExtraSlash(method, pathname);
    if (slashed) return handlerOf(slashed.op)(event.req, slashed.parameters);
    const page = fallback?.(event.req, pathname);
    if (page) {
      return page.then((response) => {
        finish(event.req, resolveRequestId(event.req), response);
        return response;
      });
    }
    const error =
      (identify ? undefined : guard.countAnonymous(event.req)) ?? unrouted.createRouteError(method, pathname);
    const response = createErrorResponse(error, event.req.headers.get("accept"));
    finish(event.req, resolveRequestId(event.req), response);
    return response;
  };

  // A noun's routes are created at its first request: creating all takes longer than the runtime takes to start.
  const byNoun = Map.groupBy(operations, (op) => findNoun(getBasePath(op) + op.path));
  const routerOf = memoize((noun: string) => {
    const router = new H3();
    const ops = byNoun.get(noun) ?? [];
    const delivered = new Set(ops.filter(acceptsWebhooks).map((op) => op.path));
    for (const op of ops) addRoutes(router, op, delivered.has(op.path));
    return router.all("/**", answerUnknown);
  });
  h3.all("/**", (event) => {
    const noun = findNoun(event.url.pathname);
    return byNoun.has(noun) ? routerOf(noun).handler(event) : answerUnknown(event);
  });
  const route = h3.fetch as MountedServer["fetch"];
  const fetch: MountedServer["fetch"] = (request) => known.find(request)?.(request) ?? route(request);
  if (app.config.trusted_proxies === undefined) return { fetch };
  return {
    fetch(request) {
      proxies.applyForwardedFor(request);
      return fetch(request);
    },
  };
}

function originOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

/** Whether webhook senders may deliver events to it: anyone may call it by POST. */
function acceptsWebhooks(op: Operation): boolean {
  return op.cors !== undefined && op.cors !== false && op.method === "POST";
}

/**
 * Answers the validation request of a webhook sender (CloudEvents webhooks 1.0.2 §4.2): any origin, any rate.
 * Deliveries still need a valid token.
 */
function allowWebhookSender(request: Request, response: Response): void {
  const origin = request.headers.get("webhook-request-origin");
  if (origin === null) return;
  response.headers.set("webhook-allowed-origin", origin);
  response.headers.set("webhook-allowed-rate", "*");
  if (request.method === "OPTIONS") response.headers.set("allow", "POST");
}

function toHandler(
  app: App,
  hooks: OperationPolicies,
  op: Operation,
  guard: AnonymousGuard,
  site: Site,
  identify: MountOptions["identify"],
) {
  const finish = createResponseFinisher(app, site.proxies, op);
  const admit = guard.guardFor(op);
  const access = createAccessLog(app, op);
  return async (request: Request, parameters: Record<string, string>): Promise<Response> => {
    const began = access && performance.now();
    const id = resolveRequestId(request);
    let response: Response;
    try {
      const search = queryStringOf(request.url);
      const named: Record<string, string> = {};
      for (const name in parameters) named[name] = decodePathParameter(parameters[name]!);
      const known = identify?.(request);
      let identity = known instanceof Promise ? await known : known;
      if (!identity) {
        const token = readToken(request, search, site, op.cookie);
        if (token !== undefined) {
          const found = hooks.resolveToken(app, token);
          identity =
            found instanceof Promise
              ? await (op.exemptFromRateLimit ? found.catch(treatAsAnonymous(app)) : found)
              : found;
        }
        // Before any input of an unauthenticated caller is read.
        if (!identity) await admit(request, token);
      }
      const authorized = authorizeCall(app, hooks, op, identity, named);
      const caller = authorized instanceof Promise ? await authorized : authorized;
      const input: Record<string, unknown> = named;
      if (op.query) input.query = parseQuery(op, search);
      if (op.body)
        input.body = await parseBody(op, request, app.settings.get("request_size_limit_mb") * 1_000_000);
      const value = await executeOperation(app, hooks, op, { caller, input, request, request_id: id });
      // Changes that the response reports must be durable.
      if (!op.skipsReadBarrier) await app.db.readBarrier();
      response = createSuccessResponse(op.responds, value);
    } catch (thrown) {
      const error = toPublicError(thrown, request);
      logFailure(app, op, id, error);
      // The writer receives the flush error; this call reports its own error.
      await app.db.readBarrier()?.catch(() => {});
      response = createErrorResponse(error, request.headers.get("accept"));
    }
    releaseBodySlot(request);
    finish(request, id, response);
    if (acceptsWebhooks(op)) allowWebhookSender(request, response);
    if (access) access(request, id, parameters, response, performance.now() - began!);
    return response;
  };
}

/** Probes are answered even if the database is down: a token that cannot be looked up counts as anonymous. */
function treatAsAnonymous(app: App): (cause: unknown) => undefined {
  return (cause) => {
    app.log.debug({ error: String((cause as Error).message) }, "a probe's token could not be looked up");
  };
}

/**
 * Creates the debug log of requests, one line each. It logs the route instead of the path, which may hold a signature
 * or a link's token.
 */
function createAccessLog(app: App, op: Operation) {
  if (!app.log.isLevelEnabled("debug")) return undefined;
  const route = getBasePath(op) + op.path;
  return (
    request: Request,
    request_id: string,
    { workspace }: Record<string, string>,
    { status, headers }: Response,
    ms: number,
  ) => {
    const job = headers.get("svc-job-id") ?? undefined;
    const address = getCallerAddress(request);
    const fields = { request_id, method: request.method, route, status, workspace, job, address };
    app.log.debug({ ...fields, ms: Math.round(ms * 100) / 100 }, "request");
  };
}

/** Maps an internal failure to a public error if the caller caused it or it is transient. */
function toPublicError(thrown: unknown, request: Request): unknown {
  // Reading a body whose sender disconnected.
  if (request.signal.aborted && (thrown as Error | undefined)?.name === "AbortError")
    return new CallerGone("the connection was closed before the body arrived", { cause: thrown });
  if (thrown instanceof Unavailable || thrown instanceof StorageFull || !isOutage(thrown)) return thrown;
  // The same call may succeed later, so senders and load balancers retry.
  return new Unavailable("the database cannot be used now: try again", { cause: thrown });
}

function logFailure(app: App, op: Operation, request_id: string, error: unknown): void {
  const shape = describeError(error);
  if (shape.status < 500) return;
  const cause = error instanceof SvcError ? error.cause : error;
  // A failed query quotes its parameters, so only the database's own message is logged.
  const said = cause instanceof Error && "params" in cause ? cause.cause : cause;
  const detail = said instanceof Error ? { error: said.message, stack: said.stack } : {};
  app.log.error({ request_id, operation: op.name, name: shape.name, ...detail }, shape.message);
}

function queryStringOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at);
}

function decodePathParameter(text: string): string {
  if (!text.includes("%")) return text.startsWith("/") ? text.slice(1) : text;
  let decoded: string;
  try {
    decoded = decodeURIComponent(text);
  } catch {
    throw new BadRequest(`"${text}" in the URL is not percent-encoded text (RFC 3986 §2.1)`);
  }
  requireNoNul("URL", decoded);
  return decoded.replace(/^\//, "");
}
