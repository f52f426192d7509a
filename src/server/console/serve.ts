/** Serves the console to browsers: static files, and the page for every path that matches no operation. */
import type { App } from "../../platform/app/context.ts";
import { readToken } from "../../platform/http/guards/credentials.ts";
import { loadConsoleBundle } from "./assets.ts";
import type { ConsoleFile } from "./bundle.ts";
import { renderFramePage } from "./frame.ts";
import { ASSETS, FRAME, renderConsolePage } from "./page.ts";

/** File names contain content hashes. */
const FOR_EVER = "public, max-age=31536000, immutable";

export const hasConsole = ({ config }: Pick<App, "config">): boolean => config.console === "on";

/** Whether the request is a page navigation of a browser. */
export function wantsPage(request: Request): boolean {
  return isRead(request) && (request.headers.get("accept") ?? "").includes("text/html");
}

const isRead = ({ method }: Request) => method === "GET" || method === "HEAD";

/**
 * Answers a request that matches no operation; undefined if the console is disabled or the request is not for it.
 * @param pathname as received, after a proxy has removed its path prefix
 */
export function serveConsole(app: App, request: Request, pathname: string): Promise<Response> | undefined {
  if (!hasConsole(app) || !isRead(request) || /^\/api(\/|$)/.test(pathname)) return undefined;
  if (pathname === `/${FRAME}`) return Promise.resolve(renderFramePage());
  if (pathname.startsWith(`/${ASSETS}`)) return serveFile(request, pathname.slice(ASSETS.length + 1));
  return wantsPage(request) ? servePage(app, request, pathname) : undefined;
}

/** Returns the console's page; its client-side router shows the view for the path. */
export async function servePage(app: App, request: Request, pathname: string): Promise<Response> {
  const hasToken = readToken(request, "") !== undefined;
  return renderConsolePage(await loadConsoleBundle(), getRelativeRoot(app, request, pathname), hasToken);
}

/**
 * Returns the relative URL from the requested page to the console's root, which works below any path prefix of a proxy.
 * Only if the prefix itself is requested without a trailing slash, it is taken from the setting `base_url`.
 */
function getRelativeRoot(app: App, request: Request, pathname: string): string {
  const depth = pathname.split("/").length - 2;
  if (depth > 0) return "../".repeat(depth);
  const base = app.settings.get("base_url");
  if (base === undefined || !URL.canParse(base)) return "./";
  const { host, pathname: prefix } = new URL(base);
  const asked = request.headers.get("x-forwarded-host") ?? request.headers.get("host");
  return asked === host ? `${prefix.replace(/\/$/, "")}/` : "./";
}

async function serveFile(request: Request, name: string): Promise<Response> {
  const file = (await loadConsoleBundle()).files.get(name);
  // A page loaded before an update requests files of the old version.
  if (!file) return new Response("no such file in this version of the console\n", { status: 404 });
  const { bytes, encoding } = encoded(file, request.headers.get("accept-encoding") ?? "");
  return new Response(bytes, {
    headers: {
      "content-type": file.type,
      "cache-control": FOR_EVER,
      vary: "accept-encoding",
      ...(encoding ? { "content-encoding": encoding } : {}),
    },
  });
}

function encoded({ gzip, brotli }: ConsoleFile, accepted: string) {
  if (/\bbr\b/.test(accepted)) return { bytes: brotli, encoding: "br" };
  if (/\bgzip\b/.test(accepted)) return { bytes: gzip, encoding: "gzip" };
  return { bytes: Bun.gunzipSync(gzip), encoding: undefined };
}
