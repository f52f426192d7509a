/** The layout of all HTML pages outside the console: plain HTML without scripts or external resources. */
import { createHash } from "node:crypto";
import { escapeHtml } from "./html.ts";

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 3rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
header { font-weight: 600; opacity: .7; }
label { display: block; margin-top: 1rem; }
small { display: block; opacity: .75; }
input:not([type=checkbox]), select, textarea { font: inherit; width: 100%; padding: .5rem; box-sizing: border-box; }
button { font: inherit; padding: .5rem 1.5rem; margin: 1.5rem 1rem 0 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8882; padding: 1rem; }
`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/**
 * Renders a page with one message. @param again adds a link to reload: session cookies are not sent with navigation
 * from another site
 */
export function renderMessagePage(status: number, title: string, message: string, again = false): Response {
  const link = again ? `\n<p><a href="">Try again</a></p>` : "";
  return renderPage(status, title, `<p>${escapeHtml(message)}</p>${link}`);
}

/** Renders a page. @param body HTML */
export function renderPage(status: number, title: string, body: string): Response {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>svc</header>
<h1>${escapeHtml(title)}</h1>
${body}
</body>
</html>
`;
  return new Response(text, { status, headers: HEADERS });
}
