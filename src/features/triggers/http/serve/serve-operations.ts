import { type Method, type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { serveRoute } from "./serve-route.ts";

const AUDIT = { operation: "jobs.run.http_route", action_kind: "Execute" } as const;

/** Creates the operation that serves HTTP routes of one method. Each route declares its own access. */
const createRouteOperation = (name: string, method: Method) =>
  operation({
    name,
    method,
    path: "/r/{route_path}",
    access: "anyone",
    scope: false,
    allowsWorkspaceTokens: true,
    cors: "any method",
    // The route's own authentication decides whether the cookie counts.
    cookie: "last",
    skipsReadBarrier: true,
    summary: `Answer a ${method} to a route of somebody's choosing`,
    responds: responds.raw("application/json", "what the route's script or flow answers, or a file"),
    audit: AUDIT,
    run: (ctx) => serveRoute(ctx),
  });

export const routeOperations: Operation[] = [
  createRouteOperation("answerRouteGet", "GET"),
  createRouteOperation("answerRoutePost", "POST"),
  createRouteOperation("answerRoutePut", "PUT"),
  createRouteOperation("answerRoutePatch", "PATCH"),
  // Whether anything is deleted is up to the script.
  { ...createRouteOperation("answerRouteDelete", "DELETE"), audit: { ...AUDIT, action_kind: "Delete" } },
];
