/** The console below a path prefix that a proxy strips, with and without a configured public address. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { createInstallation, type Installation } from "../e2e/executable.ts";
import { openBrowser, visit } from "./browser.ts";
import { createSampleWorkspace } from "./filled.ts";

let place: Installation;
let browser: Browser;

beforeEach(async () => {
  place = createInstallation();
  browser = await openBrowser();
});
afterEach(async () => {
  await browser?.close();
  place?.remove();
});

const PREFIX = "/tools/svc";

/**
 * Starts a proxy that passes only requests below the prefix to svc, as if other sites were on the same host.
 */
function startProxy(target: () => string) {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      if (pathname !== PREFIX && !pathname.startsWith(`${PREFIX}/`))
        return new Response("not svc", { status: 404 });
      const path = pathname.slice(PREFIX.length) || "/";
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      const body = request.body ? await request.bytes() : null;
      return fetch(target() + path + search, { method: request.method, headers, body, redirect: "manual" });
    },
  });
}

for (const told of [true, false]) {
  test(told ? "with the public address set" : "without", async () => {
    let target = "";
    using proxy = startProxy(() => target);
    const url = `http://127.0.0.1:${proxy.port}${PREFIX}`;
    const serving = await place.serve(told ? { env: { SVC_BASE_URL: url } } : {});
    target = serving.url;
    const filled = await createSampleWorkspace(serving);
    await using seen = await visit(browser, url, { token: filled.token });
    const { page } = seen;
    // Without the trailing slash, relative addresses would not resolve below the prefix.
    if (told) {
      await page.goto(url);
      await page.getByRole("heading", { name: "Workspaces" }).waitFor();
    }
    await seen.open(`w/acme/runs/${filled.failed}`);
    await page.getByText("no such customer").first().waitFor();
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByText("Nightly report").click();
    await page.getByRole("link", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Succeeded").first().waitFor();
    await page.reload();
    await page.getByText("Succeeded").first().waitFor();
    expect(new URL(page.url()).pathname).toStartWith(`${PREFIX}/w/acme/runs/`);
    expect(seen.wrongs).toEqual([]);
  }, 60_000);
}
