/**
 * Frame document for HTML results of jobs. It has an opaque origin, loads and sends nothing, and runs no script but the
 * one below, which inserts the HTML it receives by `postMessage`.
 */
import { createHash } from "node:crypto";

const SCRIPT = `addEventListener("message",(e)=>{if(e.source!==parent)return;
document.body.innerHTML=e.data;parent.postMessage(document.documentElement.scrollHeight,"*")});
parent.postMessage("ready","*")`;

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Result</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:1rem;background:#fff;color:#111}</style></head>
<body><script>${SCRIPT}</script></body></html>`;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": [
    "sandbox allow-scripts",
    "default-src 'none'",
    `script-src 'sha256-${createHash("sha256").update(SCRIPT).digest("base64")}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; "),
  "x-frame-options": "SAMEORIGIN",
  "cache-control": "no-cache",
};

export const renderFramePage = (): Response => new Response(HTML, { headers: HEADERS });
