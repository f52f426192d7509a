import { type Method, type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { serveRoute } from "./serve.ts";

const AUDIT = { operation: "jobs.run.http_route", action_kind: "Execute" } as const;

/** Who may call is said by each route. */
const answering = (name: string, method: Method) =>
  operation({
    name,
    method,
    path: "/r/{route_path}",
    access: "anyone",
    scope: false,
    bound: true,
    cors: "any method",
    // Which routes it counts for is said where a route asks for a token.
    cookie: "last",
    ownWrites: true,
    summary: `Answer a ${method} to a route of somebody's choosing`,
    responds: responds.raw("application/json", "what the route's script or flow answers, or a file"),
    audit: AUDIT,
    run: (ctx) => serveRoute(ctx),
  });

export const routeOperations: Operation[] = [
  answering("answerRouteGet", "GET"),
  answering("answerRoutePost", "POST"),
  answering("answerRoutePut", "PUT"),
  answering("answerRoutePatch", "PATCH"),
  // What is deleted, and whether anything is, is the script's.
  { ...answering("answerRouteDelete", "DELETE"), audit: { ...AUDIT, action_kind: "Delete" } },
];
