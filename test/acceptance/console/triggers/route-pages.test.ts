/** A page that a script answers a route with: it shares the server's address, and must not act as who opens it. */
import { expect, test } from "bun:test";
import { expectSoon } from "../browser.ts";
import { useSite } from "../site.ts";

const site = useSite();

/** Starts a run, reads who the visitor is and their cookies, and says in its title what came of it. */
const HTML = `<form method="post" enctype="text/plain" target="_blank" action="/api/w/acme/jobs/run/p/u/ann/started">
<input name='{"a":"' value='"}'><button>Go</button></form><script>
const run = "/api/w/acme/jobs/run/p/u/ann/started";
const attempts = [
  () => fetch(run, { method: "POST", body: "{}", credentials: "include" }).then(({ status }) => status),
  () => fetch(run, { method: "POST", body: "{}", credentials: "include", mode: "no-cors" }).then(({ status }) => status),
  () => fetch("/api/users/whoami", { credentials: "include" }).then((answer) => answer.text()),
  async () => document.cookie,
];
Promise.allSettled(attempts.map((attempt) => attempt())).then((all) => {
  document.title = "done " + all.map(({ value = "refused" }) => value).join(" ");
});
</script>`;

test("it neither reads nor changes anything by the visitor's session", async () => {
  const { token, script } = site.filled;
  await script("u/ann/started", "export const main = () => 1");
  await script(
    "u/ann/page",
    `export const main = () => ({ wm_content_type: "text/html", result: ${JSON.stringify(HTML)} })`,
  );
  const call = async (path: string, body?: object) => {
    const answer = await fetch(`${site.serving.url}/api/w/acme/${path}`, {
      method: body ? "POST" : "GET",
      headers: { authorization: `Bearer ${token}` },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect(answer.ok).toBe(true);
    return answer.text();
  };
  const route = { path: "u/ann/page", route_path: "page", workspaced_route: true, http_method: "get" };
  const target = { script_path: "u/ann/page", is_flow: false, request_type: "sync", summary: "" };
  await call("http_triggers/create", { ...route, ...target, authentication_method: "none" });

  await using seen = await site.visit();
  const { page, context } = seen;
  await page.goto(`${site.serving.url}/api/r/acme/page`);
  await expectSoon(() => page.title(), "done refused 0 refused refused");
  const opened = context.waitForEvent("page");
  await page.getByRole("button", { name: "Go" }).click();
  const answer = await opened;
  await answer.getByText("a valid token is needed").waitFor();
  expect(JSON.parse(await call("jobs/list?script_path_exact=u/ann/started"))).toEqual([]);
  // The browser logs what was refused.
  seen.wrongs.length = 0;
}, 60_000);
