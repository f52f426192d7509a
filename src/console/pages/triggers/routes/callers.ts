/** Authentication methods of a route's callers. */

import type { HttpTrigger } from "../../../api/interface.d.ts";
import { getConsoleUrl } from "../../../parts/calling/Address.tsx";
import type { ExampleRequest } from "../../../parts/calling/snippets.ts";

export type Authentication = HttpTrigger["authentication_method"];

export const AUTHENTICATIONS: { value: Authentication; label: string; about: string }[] = [
  { value: "none", label: "Everybody", about: "No credentials are required." },
  { value: "token", label: "Callers with a token", about: "The token of a user who can run it." },
  {
    value: "api_key",
    label: "Callers with an API key",
    about:
      "The key is sent in a header. The resource has the fields api_key_header (name of the header) and api_key_secret.",
  },
  {
    value: "basic_http",
    label: "Callers with user name and password",
    about: "HTTP basic authentication. The resource has the fields username and password.",
  },
  {
    value: "signature",
    label: "Callers that sign the request",
    about: "The caller signs each request with a shared secret.",
  },
];

export const getAuthenticationLabel = (method: Authentication): string =>
  AUTHENTICATIONS.find(({ value }) => value === method)?.label ?? method;

/** Kinds of responses. */
export const REQUEST_TYPES: { value: HttpTrigger["request_type"]; label: string }[] = [
  { value: "sync", label: "The result, when the run has ended" },
  { value: "async", label: "The id of the run, at once" },
  { value: "sync_sse", label: "A stream of events (SSE) while it runs" },
];

type Placed = Pick<HttpTrigger, "workspaced_route" | "route_path">;

/** Formats the path of a route below the server's address, such as `/api/r/acme/orders/:id`. */
export const formatRoutePath = (workspace: string, { workspaced_route, route_path }: Placed): string =>
  `/api/r/${workspaced_route ? `${workspace}/` : ""}${route_path}`;

/** Formats a route for lists, such as `GET acme/orders/:id`. */
export const formatRouteLine = (
  workspace: string,
  { http_method, workspaced_route, route_path }: Placed & Pick<HttpTrigger, "http_method">,
): string => `${http_method.toUpperCase()} ${workspaced_route ? `${workspace}/` : ""}${route_path}`;

const CREDENTIALS: Partial<Record<Authentication, Record<string, string>>> = {
  token: { Authorization: "Bearer YOUR_TOKEN" },
  api_key: { "X-API-Key": "YOUR_KEY" },
  basic_http: { Authorization: "Basic BASE64_OF_USER:PASSWORD" },
};

/** Returns a request that tests the route; its parameters are placeholders. */
export function createExampleRequest(workspace: string, route: HttpTrigger): ExampleRequest {
  const hasBody = route.http_method !== "get" && route.http_method !== "delete";
  return {
    method: route.http_method.toUpperCase(),
    address: getConsoleUrl() + formatRoutePath(workspace, route),
    headers: CREDENTIALS[route.authentication_method] ?? {},
    ...(hasBody ? { body: "{}" } : {}),
  };
}
