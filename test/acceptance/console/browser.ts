/** A real browser on the compiled executable. Any error in a page fails the test that opened it. */
import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import axe from "axe-core";
import { type Browser, type BrowserContext, type Page, chromium as playwright } from "playwright-core";
import { sleep } from "../../../src/lib/async/sleep.ts";

/** Folder for screenshots, if any is wanted. */
const PICTURES = process.env.SVC_SCREENSHOTS;

/**
 * Arguments of the package that would make the browser unlike users' browsers, and the emulated graphics
 * processor.
 */
const LEFT_OUT = new Set([
  "--single-process",
  "--no-zygote",
  "--disable-web-security",
  "--allow-running-insecure-content",
  "--disable-site-isolation-trials",
  "--in-process-gpu",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist",
]);

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 390, height: 844 };

/**
 * Opens a browser with software rendering, which takes two thirds of the processor time of an emulated graphics
 * processor.
 * @param more arguments of the browser, such as host mappings
 */
export async function openBrowser(more: string[] = []): Promise<Browser> {
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((each) => !LEFT_OUT.has(each)), "--disable-gpu", ...more],
    headless: true,
  });
}

export interface Visit extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
  /** Errors of the page so far. A test that provokes some clears them. */
  wrongs: string[];
  /** Opens an address of the console and waits until it shows something. */
  open: (path: string) => Promise<void>;
  /** @throws when axe finds something serious */
  accessible: (place: string) => Promise<void>;
  /** Screenshots at both widths, in light and dark. */
  picture: (name: string) => Promise<void>;
}

export interface VisitOptions {
  token?: string;
  viewport?: typeof DESKTOP;
  scheme?: "light" | "dark";
}

/**
 * Waits for a value that a page shows some time after a click.
 * @throws the usual failure of `toEqual` if it differs for ten seconds
 */
export async function expectSoon<T extends string | number | boolean | string[] | null>(
  read: () => Promise<T> | T,
  expected: T,
): Promise<void> {
  const end = performance.now() + 10_000;
  let value: T = await read();
  while (!Bun.deepEquals(value, expected) && performance.now() < end) {
    await sleep(50);
    value = await read();
  }
  expect(value).toEqual(expected);
}

/**
 * Keeps the bodies of responses to a page.
 * @param isKept whether to keep the response from this URL
 * @returns a function that reads those received so far to their ends; an aborted one is empty
 */
export function keepAnswers(page: Page, isKept: (url: string) => boolean): () => Promise<string[]> {
  const texts: Promise<string>[] = [];
  page.on("response", (response) => {
    if (isKept(response.url())) texts.push(response.text().catch(() => ""));
  });
  return () => Promise.all(texts);
}

/**
 * Visits the console as a user with their own cookies.
 * @param url base URL of the console, as the browser sees it
 */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
  const { origin, pathname } = new URL(url);
  const context = await browser.newContext({
    viewport: options.viewport ?? DESKTOP,
    colorScheme: options.scheme ?? "light",
    reducedMotion: "reduce",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  if (options.token) {
    await context.addCookies([
      { name: "token", value: options.token, url: origin, httpOnly: true, sameSite: "Lax" },
    ]);
  }
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const wrongs: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      wrongs.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => wrongs.push(`page: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrongs.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const address = request.url();
    if (!/^(data|blob):/.test(address) && !address.startsWith(origin + pathname.replace(/\/$/, "")))
      wrongs.push(`leaves the host: ${address}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 500) wrongs.push(`${response.status()} ${response.url()}`);
  });
  // As text, because it runs in the page, which has none of this program's objects.
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (e) => console.error("policy: " + e.violatedDirective + " " + e.blockedURI + " " + e.sample))`,
  );
  return {
    page,
    context,
    wrongs,
    open: async (path) => {
      await page.goto(new URL(path.replace(/^\//, ""), `${url.replace(/\/$/, "")}/`).href);
      await page.locator("h1").first().waitFor();
    },
    accessible: async (place) => {
      await page.evaluate(axe.source);
      const found = await page.evaluate(`axe.run(document, { resultTypes: ["violations"] })`);
      const serious = (found as axe.AxeResults).violations.filter(
        ({ impact }) => impact === "serious" || impact === "critical",
      );
      const said = serious.map(
        ({ id, nodes }) =>
          `${id}: ${nodes
            .map(({ html, any }) => `${html.slice(0, 200)} ${any[0]?.message ?? ""}`)
            .slice(0, 4)
            .join("\n   ")}`,
      );
      if (said.length > 0) throw new Error(`${place}:\n${said.join("\n")}`);
    },
    picture: async (name) => {
      if (!PICTURES) return;
      mkdirSync(PICTURES, { recursive: true });
      for (const [kind, size] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
        await page.setViewportSize(size);
        await page.waitForTimeout(250);
        await page.screenshot({ path: join(PICTURES, `${name}-${kind}.png`) });
      }
      await page.setViewportSize(options.viewport ?? DESKTOP);
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      // Throwing here would hide the error that already ended the test.
      for (const wrong of wrongs) console.error(wrong);
      if (wrongs.length > 0) throw new Error(`${wrongs.length} things went wrong in the browser, see above`);
    },
  };
}
