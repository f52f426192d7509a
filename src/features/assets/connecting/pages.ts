/** What browsers that come back from a provider are answered. */
import { BadRequest, SvcError, Unauthorized } from "../../../lib/errors.ts";
import { escapeHtml } from "../../../lib/text/html.ts";
import { html, messagePage } from "../../../lib/text/html-page.ts";
import { describeError } from "../../../platform/http/respond.ts";
import type { Returned } from "../connections/provider.ts";

const MAX_TEXT = 300;
/** Most bytes that a browser's form may hold. */
export const MAX_FORM = 100_000;

/** What a provider adds to the address it sends the browser back to (RFC 6749 §4.1.2). @throws BadRequest when it refuses */
export function returnedOf(client: string, request: Request): Returned {
  const search = new URL(request.url).searchParams;
  const error = search.get("error");
  if (error !== null) {
    const said = [error, search.get("error_description")].filter(Boolean).join(": ");
    throw new BadRequest(`${client} refuses: ${said.slice(0, MAX_TEXT)}`);
  }
  const [code, state] = [search.get("code"), search.get("state")];
  if (!code || !state)
    throw new BadRequest("the address needs `code` and `state`, as the provider adds them");
  return { code, state, iss: search.get("iss") ?? undefined };
}

/**
 * A place on this instance to go to.
 * @throws BadRequest for one elsewhere, which a forged link could send people to
 */
export function localPath(rd: string | undefined): string | undefined {
  if (rd === undefined || rd === "") return undefined;
  // Browsers read a backslash as a slash, and leave out control characters.
  const isLocal = /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(rd);
  if (!isLocal) throw new BadRequest("query field `rd`: must be a path on this instance, such as /runs");
  return rd;
}

/** Nothing of it may be kept: the next attempt is another one. */
export function redirectTo(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 302, headers });
}

/** Errors are told on a page: a person reads them. */
export async function asPage(work: () => Promise<Response> | Response): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { status, message } = describeError(error);
    return messagePage(status, "This did not work", message, error instanceof Unauthorized);
  }
}

/**
 * Asks a person who comes back from a provider to go on: the click comes from this instance, so that the browser shows
 * who is logged in (a link from elsewhere does not), and nobody is made to connect an account by a link.
 */
export function confirmPage(title: string, message: string, action: string, returned: Returned): Response {
  const fields = Object.entries(returned)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value as string)}">`);
  return html(
    200,
    title,
    `<p>${escapeHtml(message)}</p>
<form method="post" action="${escapeHtml(action)}">
${fields.join("\n")}
<button>Connect</button>
</form>`,
  );
}
