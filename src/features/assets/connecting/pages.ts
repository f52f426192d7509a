/** Pages and redirects for browsers that come back from a provider. */
import { BadRequest, SvcError, Unauthorized } from "../../../lib/errors.ts";
import { escapeHtml } from "../../../lib/text/html.ts";
import { type NextStep, RETRY, renderMessagePage, renderPage } from "../../../lib/text/html-page.ts";
import type { Context } from "../../../platform/app/context.ts";
import { describeError } from "../../../platform/http/respond.ts";
import { getClient } from "../connections/oauth-clients.ts";
import type { AuthorizationResponse } from "../connections/oauth-protocol.ts";
import { type OauthState, readState } from "../connections/oauth-state.ts";

const MAX_ERROR_CHARS = 300;
/** Upper limit of a form's size, in bytes. */
export const MAX_FORM_BYTES = 100_000;

/**
 * Parses the query of the redirect back from the provider (RFC 6749 §4.1.2).
 * @throws BadRequest if it reports an error; NotFound for an unknown client
 */
export function parseAuthorizationResponse(
  { app, request }: Pick<Context, "app" | "request">,
  { kind, client: name }: Pick<OauthState, "kind" | "client">,
): AuthorizationResponse {
  const client = getClient(app, name, kind).name;
  const search = new URL(request.url).searchParams;
  const [code, state, error] = [search.get("code"), search.get("state"), search.get("error")];
  if (error !== null) {
    // Anybody can make a link to this page: only to the browser that asked, the provider's own words are shown.
    const said = ownsState(app, request, { kind, client, state: state ?? "" })
      ? [error, search.get("error_description")].filter(Boolean).join(": ")
      : (/^[a-z_]{1,40}$/.exec(error)?.[0] ?? "an error");
    throw new BadRequest(`${client} rejected the request: ${said.slice(0, MAX_ERROR_CHARS)}`);
  }
  if (!code || !state)
    throw new BadRequest("the address needs `code` and `state`, as the provider adds them");
  return { code, state, iss: search.get("iss") ?? undefined };
}

function ownsState(...args: Parameters<typeof readState>): boolean {
  try {
    readState(...args);
    return true;
  } catch (cause) {
    if (cause instanceof BadRequest) return false;
    throw cause;
  }
}

/** Validates a path to redirect to. @throws BadRequest for another host, to prevent open redirects */
export function parseLocalPath(rd: string | undefined): string | undefined {
  if (rd === undefined || rd === "") return undefined;
  // Browsers treat a backslash as a slash, and drop control characters.
  const isLocal = /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(rd);
  if (!isLocal) throw new BadRequest("query field `rd`: must be a path on this instance, such as /runs");
  return rd;
}

/** Redirects without caching: each attempt has its own URL. */
export function createRedirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 302, headers });
}

/** Runs `work` and renders errors as a page, since a person reads them. @param next what that page leads to */
export async function withErrorPage(
  work: () => Promise<Response> | Response,
  next?: NextStep,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const { status, message } = describeError(error);
    return renderMessagePage(
      status,
      "This did not work",
      message,
      next ?? (error instanceof Unauthorized ? RETRY : undefined),
    );
  }
}

/**
 * Renders a page that asks the user to confirm the connection. The form is posted from this instance, so the browser
 * sends its cookies, and a link from elsewhere cannot connect an account unnoticed (login CSRF).
 */
export function renderConfirmPage(
  title: string,
  message: string,
  action: string,
  returned: AuthorizationResponse,
): Response {
  const fields = Object.entries(returned)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value as string)}">`);
  return renderPage(
    200,
    title,
    `<p>${escapeHtml(message)}</p>
<form method="post" action="${escapeHtml(action)}">
${fields.join("\n")}
<button>Connect</button>
</form>`,
  );
}
