/** Texts written by users and jobs are displayed as text: nothing in them runs, is loaded or sends anything. */
import { beforeAll, expect, test } from "bun:test";
import { visit } from "./browser.ts";
import { useSite } from "./site.ts";

const site = useSite();

const EVIL = `<img src=x onerror=alert(1)><svg onload=alert(2)><script>alert(3)</script>"'><a href="javascript:alert(4)">x</a>`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(5)"><script>alert(6)</script><rect width="9" height="9"/></svg>`;

beforeAll(async () => {
  await site.filled.script(
    "u/ann/evil",
    `export const main = (kind: string, text: string) => {
  console.log(text);
  if (kind === "throw") { const error = new Error(text); error.name = text; throw error; }
  return ({ text, table: [{ [text]: text }], html: { html: text }, svg: { svg: ${JSON.stringify(SVG)} },
    markdown: { markdown: text }, file: { file: { content: "eA==", filename: text } }, object: { [text]: { [text]: text } } } as any)[kind];
};`,
    {
      summary: EVIL,
      description: EVIL,
      schema: {
        type: "object",
        properties: {
          kind: { type: "string", title: EVIL, description: EVIL, enum: ["text", EVIL] },
          text: { type: "string", default: EVIL },
        },
      },
    },
  );
});

for (const kind of ["text", "table", "html", "svg", "markdown", "file", "object", "throw"]) {
  test(`a run whose result is ${kind}`, async () => {
    const id = await site.filled.run("u/ann/evil", { kind, text: EVIL });
    await using seen = await site.visit();
    await seen.open(`w/acme/runs/${id}`);
    await seen.page.getByRole("log").getByText("onerror=alert(1)").waitFor();
    if (kind === "html") await seen.page.frameLocator("iframe").locator("a").waitFor({ state: "attached" });
    expect(await seen.page.locator("main img[src=x], main svg[onload], main script").count()).toBe(0);
    // The frame shows the markup and blocks its handlers and images, which the browser logs.
    if (kind === "html") seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter(isUnexpected));
    expect(seen.wrongs).toEqual([]);
  });
}

const isUnexpected = (wrong: string) =>
  !/Content Security Policy|policy: (script|img)|frame\.html/.test(wrong);

test("its name, description and form", async () => {
  await using seen = await site.visit();
  await seen.open("w/acme");
  await seen.page.getByText("onerror=alert(1)").first().waitFor();
  await seen.open("w/acme/begin/script/u/ann/evil");
  await seen.page.getByRole("textbox").first().waitFor();
  await seen.open("w/acme/runs?path=u/ann/evil");
  await seen.page.getByRole("link", { name: "u/ann/evil" }).first().waitFor();
  expect(seen.wrongs).toEqual([]);
});

test("texts of users on the other pages", async () => {
  const { ask } = site.filled;
  const path = "f/finance/evil";
  await ask("POST", "/w/acme/schedules/create", {
    path,
    script_path: "u/ann/evil",
    schedule: "0 0 6 * * *",
    timezone: "UTC",
    summary: EVIL,
    description: EVIL,
    args: { text: EVIL },
    enabled: false,
  });
  await ask("POST", "/w/acme/http_triggers/create", {
    path,
    script_path: "u/ann/evil",
    route_path: "evil",
    http_method: "get",
    workspaced_route: true,
    authentication_method: "none",
    summary: EVIL,
    description: EVIL,
  });
  await ask("POST", "/w/acme/websocket_triggers/create", {
    path,
    script_path: "u/ann/evil",
    is_flow: false,
    url: "wss://example.org/",
    summary: EVIL,
    filters: [{ key: EVIL, value: EVIL }],
    initial_messages: [{ raw_message: EVIL }],
    can_return_message: false,
    enabled: false,
  });
  const { id } = JSON.parse(
    await ask("POST", "/w/acme/webhooks/create", {
      url: "https://example.org/",
      description: EVIL,
      types: null,
    }),
  );
  await ask("POST", "/w/acme/variables/create", { path, value: EVIL, is_secret: false, description: EVIL });
  await ask("POST", "/w/acme/resources/type/create", {
    name: "c_evil",
    description: EVIL,
    schema: { type: "object", properties: { [EVIL]: { type: "string", title: EVIL, description: EVIL } } },
  });
  await ask("POST", "/w/acme/resources/create", {
    path,
    resource_type: "c_evil",
    value: { [EVIL]: EVIL },
    description: EVIL,
  });
  await ask("POST", "/w/acme/groups/create", { name: "evil", summary: EVIL });
  await ask("POST", "/w/acme/folders/create", { name: "evil", summary: EVIL });
  await ask("POST", "/users/tokens/create", { label: EVIL });
  await ask("POST", "/w/acme/workspaces/set_environment_variable", { name: "EVIL", value: EVIL });
  await ask("POST", "/workspaces/create", { id: "evil", name: EVIL, username: "ann" });
  await using seen = await site.visit();
  for (const page of [
    "schedules",
    `schedules/p/${path}`,
    `schedules/edit/${path}`,
    "triggers",
    `triggers/http/p/${path}`,
    `triggers/http/edit/${path}`,
    "triggers?tab=websockets",
    `triggers/websocket/p/${path}`,
    `triggers/websocket/edit/${path}`,
    "webhooks",
    `webhooks/${id}`,
    "variables",
    "resources",
    "resources?tab=types",
    `resources/p/${path}`,
    "people?tab=groups",
    "people?tab=folders",
    "settings?tab=runs",
    "tokens",
    "instance?tab=workspaces",
  ]) {
    await seen.open(`w/acme/${page}`);
    const text = seen.page.getByText("onerror=alert(1)");
    const field = seen.page.locator("input, textarea").and(seen.page.locator('[value*="onerror"]'));
    await text.or(field).first().waitFor();
    expect(await seen.page.locator("main img[src=x], main svg[onload], main script").count()).toBe(0);
    expect([page, ...seen.wrongs]).toEqual([page]);
  }
  await ask("DELETE", "/workspaces/delete/evil");
}, 90_000);

test("links and redirects to other hosts are not followed", async () => {
  for (const then of ["https://example.com/", "//example.com", "/\\example.com", "javascript:alert(1)"]) {
    await using seen = await visit(site.browser, site.serving.url);
    await seen.page.goto(`${site.serving.url}/login?then=${encodeURIComponent(then)}`);
    await seen.page.getByLabel("E-mail").fill("ann@example.org");
    await seen.page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
    await seen.page.getByRole("button", { name: "Sign in", exact: true }).click();
    await seen.page.getByRole("heading", { name: "Workspaces" }).waitFor();
    // The first request for the signed-in user is answered with 401.
    seen.wrongs.splice(
      0,
      seen.wrongs.length,
      ...seen.wrongs.filter((each) => !each.includes("status of 401")),
    );
    expect(seen.wrongs).toEqual([]);
  }
});
