/** The HTML page of the console (single-page application) and its content security policy. */
import { randomBytes } from "node:crypto";
import { escapeHtml } from "../../lib/text/html.ts";
import type { ConsoleBundle } from "./bundle.ts";

/** URL prefix of the console's static files; no operation uses it. */
export const ASSETS = "assets/";

/** URL of the sandboxed frame that shows HTML results of jobs: see `frame.ts`. */
export const FRAME = `${ASSETS}frame.html`;

/**
 * Returns the content security policy: same origin only. `blob:` is used for downloads, images and PDFs of job results.
 */
function createSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "frame-src 'self' blob:",
    "object-src blob:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Renders the HTML page of the console.
 * @param root relative URL from the requested page to the console's root, such as `../`; works below any path prefix
 * @param hasToken whether the browser sent a session; the page then loads its data before it knows who the user is
 */
export function renderConsolePage(bundle: ConsoleBundle, root: string, hasToken: boolean): Response {
  const nonce = randomBytes(16).toString("base64");
  const at = (name: string) => escapeHtml(`${root}${ASSETS}${name}`);
  const styles = bundle.styles.map((name) => `<link rel="stylesheet" href="${at(name)}">`).join("\n");
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="svc-root" content="${escapeHtml(root)}">
<meta name="svc-session" content="${hasToken ? "sent" : "none"}">
<title>svc</title>
<link rel="icon" type="image/svg+xml" href="${at(bundle.icon)}">
${styles}
<script type="module" nonce="${nonce}" src="${at(bundle.script)}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs JavaScript. Everything it does can be done at a terminal too: see svc --help.</noscript>
</body>
</html>
`;
  return new Response(html, {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": createSecurityPolicy(nonce),
      "cache-control": "no-store",
    },
  });
}
