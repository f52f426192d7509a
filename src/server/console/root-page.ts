import { countUsers } from "../../features/accounts/users/service.ts";
import { renderPage } from "../../lib/text/html-page.ts";
import { operation, responds } from "../../platform/http/operation.ts";
import { hasConsole, servePage, wantsPage } from "./serve.ts";

/** Tells people who open a server without users and without a console how to set it up. */
const renderNotSetUpPage = () =>
  renderPage(
    200,
    "svc is running, and not set up yet",
    `<p>The link for creating the first admin account is in the server's log. At a terminal of its machine, this creates
the account too:</p>
<pre>svc user create --super-admin</pre>
<p>The operations are described in <a href="/api/docs">the reference</a>.</p>`,
  );

/** Shows the console to browsers, and redirects other clients to the API reference. */
export const rootPage = operation({
  name: "frontDoor",
  method: "GET",
  path: "/",
  access: "anyone",
  scope: false,
  page: true,
  summary: "Show the console, or redirect to the API reference",
  responds: responds.raw("text/html", "a page, or a redirect"),
  async run({ app, request }) {
    if (wantsPage(request)) {
      if (hasConsole(app)) return servePage(app, request, "/");
      if ((await countUsers(app.db.read)) === 0) return renderNotSetUpPage();
    }
    return new Response(null, { status: 302, headers: { location: "/api/docs" } });
  },
});
