import { operation, responds } from "../../platform/http/operation.ts";
import { hasConsole, servePage, wantsPage } from "./serve.ts";

/** Shows the console to browsers, and redirects other clients to the API reference. */
export const frontDoor = operation({
  name: "frontDoor",
  method: "GET",
  path: "/",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Show the console, or redirect to the API reference",
  responds: responds.raw("text/html", "a page, or a redirect"),
  run: ({ app, request }) =>
    hasConsole(app) && wantsPage(request)
      ? servePage(app, request, "/")
      : new Response(null, { status: 302, headers: { location: "/api/docs" } }),
});
