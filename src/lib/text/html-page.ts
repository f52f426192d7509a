/** The layout of all HTML pages outside the console: plain HTML without scripts or external resources. */
import { createHash } from "node:crypto";
import { escapeHtml } from "./html.ts";

const STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f7f9, #101217); --card: light-dark(#fff, #1c2027); --line: light-dark(#d3d7e0, #3c4350);
  --text: light-dark(#1a1f29, #eceef3); --quiet: light-dark(#5b6472, #a2aabb); --sunk: light-dark(#f6f7f9, #15181e);
  --edge: light-dark(#8a93a3, #737c8d); --ink: light-dark(#2f51af, #8ea6ee); --on-ink: light-dark(#fff, #101217);
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 0; overflow-wrap: anywhere; }
header, main { max-width: 38rem; margin: 0 auto; box-sizing: border-box; }
header { font-weight: 600; color: var(--quiet); margin-top: 2.5rem; padding: 0 2rem; }
main { background: var(--card); border: 1px solid var(--line); border-radius: 12px; margin: .75rem auto 3rem; padding: 1.75rem 2rem 2rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
a { color: var(--ink); }
label { display: block; margin-top: 1.25rem; font-weight: 500; }
label.check { display: grid; grid-template-columns: auto 1fr; column-gap: .6rem; align-items: center; }
label.check small { grid-column: 2; }
small { display: block; font-weight: 400; color: var(--quiet); }
input:not([type=checkbox]), select, textarea {
  font: inherit; font-weight: 400; width: 100%; margin-top: .3rem; padding: .5rem .65rem; box-sizing: border-box;
  color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 8px;
}
input[type=checkbox] { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--ink); }
button {
  font: inherit; font-weight: 500; padding: .55rem 1.5rem; margin: 1.75rem .75rem 0 0; border-radius: 8px; cursor: pointer;
  color: var(--on-ink); background: var(--ink); border: 1px solid var(--ink);
}
button + button { color: inherit; background: none; border-color: var(--edge); }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; background: var(--sunk); border: 1px solid var(--line); border-radius: 8px; margin: .75rem 0; padding: .75rem 1rem; max-height: 24rem; overflow: auto; }
dl { display: grid; grid-template-columns: minmax(5rem, auto) 1fr; gap: .5rem 1.25rem; margin: .75rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; min-width: 0; white-space: pre-wrap; }
dd pre { margin: 0; }
@media (max-width: 30rem) {
  header { margin-top: 1rem; padding: 0 1rem; }
  main { border-width: 1px 0; border-radius: 0; padding: 1.25rem 1rem 1.5rem; }
  dl { display: block; }
  dd { margin: 0 0 .6rem; }
}
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
  // With `no-referrer`, browsers would send `Origin: null` with forms, and the form's origin could not be checked.
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

/** A link below a message. */
export interface NextStep {
  href: string;
  label: string;
}

/** Reloads the page: session cookies are not sent with navigation from another site. */
export const RETRY: NextStep = { href: "", label: "Try again" };

/** Renders a page with one message. */
export function renderMessagePage(status: number, title: string, message: string, next?: NextStep): Response {
  const link = next ? `\n<p><a href="${escapeHtml(next.href)}">${escapeHtml(next.label)}</a></p>` : "";
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
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
  return new Response(text, { status, headers: HEADERS });
}
