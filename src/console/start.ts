/**
 * Starts loading what the page of the address needs: session, program and data, at once. `main.tsx` imports this file
 * first: the requests are on their way while the rest of the program is evaluated.
 */
import { BASE_PATH, HAS_SESSION } from "./api/base.ts";
import { queryClient } from "./api/client.ts";
import { memberQuery, myWorkspacesQuery, whoamiQuery } from "./api/session.ts";
import { findPage } from "./pages/routes.ts";
import { getLastWorkspace } from "./shell/last-workspace.ts";

/** How long nothing is shown; the page then says that it is loading. */
const MAX_BLANK_MS = 200;

/** Resolves when the page can be rendered as a whole, or loading takes longer. Never rejects. */
export const firstPageLoaded: Promise<unknown> = HAS_SESSION
  ? Promise.race([load(), new Promise((resolve) => setTimeout(resolve, MAX_BLANK_MS))])
  : Promise.resolve();

/** Loads what the page needs. Errors stay with the queries; the page shows them. */
function load(): Promise<unknown> {
  const last = getLastWorkspace();
  const asked = `/${location.pathname.slice(BASE_PATH.length)}`;
  // The root address redirects there.
  const path = asked === "/" && last !== null ? `/w/${last}` : asked;
  const page = findPage(path);
  if (!page) return Promise.resolve();
  const { params, load, prefetch } = page;
  return Promise.all([
    queryClient.prefetchQuery(whoamiQuery),
    queryClient.prefetchQuery(myWorkspacesQuery),
    queryClient.prefetchQuery(memberQuery(params.workspace)),
    prefetch?.(params, new URLSearchParams(location.search)),
    load(),
  ]);
}
