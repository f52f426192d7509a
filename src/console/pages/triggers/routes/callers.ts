/** Authentication methods of a route's callers. */

import type { HttpTrigger } from "../../../api/interface.d.ts";
import { consoleAddress } from "../../../parts/calling/Address.tsx";
import type { ExampleRequest } from "../../../parts/calling/snippets.ts";

export type Authentication = HttpTrigger["authentication_method"];

export const AUTHENTICATIONS: { value: Authentication; label: string; about: string }[] = [
  { value: "none", label: "Everybody", about: "No credentials are asked for: whoever knows the address." },
  { value: "token", label: "Who has a token", about: "A token of a user who may run it." },
  {
    value: "api_key",
    label: "Who sends a key",
    about: "A key in a header. The resource holds it in api_key_secret, and in api_key_header its name.",
  },
  {
    value: "basic_http",
    label: "Who knows a user name and password",
    about: "The resource holds them in username and password. Browsers ask for them.",
  },
  {
    value: "signature",
    label: "Who signs the request",
    about: "A service proves with a shared secret that it has sent the request.",
  },
];

export const callersOf = (method: Authentication): string =>
  AUTHENTICATIONS.find(({ value }) => value === method)?.label ?? method;

/** Kinds of responses. */
export const REQUEST_TYPES: { value: HttpTrigger["request_type"]; label: string }[] = [
  { value: "sync", label: "The result, when it is there" },
  { value: "async", label: "The id of the run, at once" },
  { value: "sync_sse", label: "Events: what it writes as it goes" },
];

type Placed = Pick<HttpTrigger, "workspaced_route" | "route_path">;

/** Path below the server's address, such as `/api/r/acme/orders/:id`. */
export const routeAddress = (workspace: string, { workspaced_route, route_path }: Placed): string =>
  `/api/r/${workspaced_route ? `${workspace}/` : ""}${route_path}`;

/** Short form for lists, such as `GET acme/orders/:id`. */
export const routeLine = (
  workspace: string,
  { http_method, workspaced_route, route_path }: Placed & Pick<HttpTrigger, "http_method">,
): string => `${http_method.toUpperCase()} ${workspaced_route ? `${workspace}/` : ""}${route_path}`;

const CREDENTIALS: Partial<Record<Authentication, Record<string, string>>> = {
  token: { Authorization: "Bearer YOUR_TOKEN" },
  api_key: { "X-API-Key": "YOUR_KEY" },
  basic_http: { Authorization: "Basic BASE64_OF_USER:PASSWORD" },
};

/** Returns a request that tests the route; its parameters are placeholders. */
export function exampleOf(workspace: string, route: HttpTrigger): ExampleRequest {
  const hasBody = route.http_method !== "get" && route.http_method !== "delete";
  return {
    method: route.http_method.toUpperCase(),
    address: consoleAddress() + routeAddress(workspace, route),
    headers: CREDENTIALS[route.authentication_method] ?? {},
    ...(hasBody ? { body: "{}" } : {}),
  };
}
