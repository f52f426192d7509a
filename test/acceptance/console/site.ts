/** Starts a server with data and a browser for the tests of a file. */
import { afterAll, beforeAll } from "bun:test";
import type { Browser } from "playwright-core";
import { createInstallation, type Installation, type Serving } from "../e2e/executable.ts";
import { openBrowser, type Visit, type VisitOptions, visit } from "./browser.ts";
import { createSampleWorkspace, type SampleWorkspace } from "./filled.ts";

export interface Site {
  place: Installation;
  serving: Serving;
  browser: Browser;
  filled: SampleWorkspace;
  /** A visit by the super admin who owns the data. */
  visit: (options?: VisitOptions) => Promise<Visit>;
}

/**
 * Opens the site before the tests of the calling file, and removes it after them.
 * @returns an object whose fields are set while tests run
 * @param env environment variables of the server
 */
export function useSite(env: Record<string, string> = {}): Site {
  const site = {} as Site;
  site.visit = (options) => visit(site.browser, site.serving.url, { token: site.filled.token, ...options });
  beforeAll(async () => {
    site.place = createInstallation();
    [site.serving, site.browser] = await Promise.all([site.place.serve({ env }), openBrowser()]);
    site.filled = await createSampleWorkspace(site.serving);
  });
  afterAll(async () => {
    await site.browser?.close();
    site.place?.remove();
  });
  return site;
}
