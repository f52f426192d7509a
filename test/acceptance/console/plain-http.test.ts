/** The console over plain HTTP under a host name, which browsers do not treat as a secure context. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { expectSoon, openBrowser, visit } from "./browser.ts";
import { useSite } from "./site.ts";

const HOST = "svc.example";

const site = useSite();

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
});
afterAll(() => browser?.close());

const here = () => site.serving.url.replace("127.0.0.1", HOST).replace("localhost", HOST);

test("secrets shown once and texts of a page can be copied", async () => {
  await using seen = await visit(browser, here(), { token: site.filled.token });
  const { page } = seen;
  await seen.open("w/acme/tokens");
  expect(await page.evaluate("[isSecureContext, navigator.clipboard === undefined]")).toEqual([false, true]);
  await page.getByRole("button", { name: "New token" }).first().click();
  await page.getByRole("dialog").getByLabel("Name").fill("by hand");
  await page.getByRole("button", { name: "Create" }).click();
  const token = await page.getByLabel("The token").textContent();
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await page.getByRole("button", { name: "Done" }).click();

  await seen.open("w/acme");
  const search = page.getByPlaceholder("Search by name, path or language");
  await search.focus();
  await page.keyboard.press("ControlOrMeta+v");
  await expectSoon(() => search.inputValue(), token);
  expect(seen.wrongs).toEqual([]);
}, 60_000);

test("an error is shown if the browser does not allow copying", async () => {
  await using seen = await visit(browser, here(), { token: site.filled.token });
  const { page } = seen;
  await page.addInitScript("document.execCommand = () => false");
  await seen.open(`w/acme/runs/${site.filled.failed}`);
  await page.getByRole("button", { name: "Copy" }).first().click();
  await page.getByText("select the text and copy it").waitFor();
}, 60_000);

test("an approval that needs a login is answered on its page", async () => {
  const { token } = site.filled;
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${site.serving.url}/api/w/acme/${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return answer.text();
  };
  const suspend = { required_events: 1, user_auth_required: true };
  const modules = [{ id: "a", value: { type: "identity" }, suspend }];
  const flow = await call("jobs/run/preview_flow", { value: { modules } });
  const read = async () => JSON.parse(await call(`jobs_u/get/${flow}`));
  await expectSoon(async () => Boolean((await read()).flow_status?.approval_conditions), true);
  const { approvalPage } = JSON.parse(await call(`jobs/resume_urls/${flow}/1`));

  await using seen = await visit(browser, here(), { token });
  const { page } = seen;
  await page.goto(here() + new URL(approvalPage).pathname);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "Approved" }).waitFor();
  await expectSoon(async () => (await read()).success, true);
  expect(seen.wrongs).toEqual([]);
}, 60_000);
