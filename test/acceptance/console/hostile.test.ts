/** Whatever people and jobs write shows as what it is: nothing of it runs, is loaded or leaves. */
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
    // In its frame the markup is shown, its handlers and pictures are refused: that is what the reports there say.
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

test("links and redirects to other hosts are not followed", async () => {
  for (const then of ["https://example.com/", "//example.com", "/\\example.com", "javascript:alert(1)"]) {
    await using seen = await visit(site.browser, site.serving.url);
    await seen.page.goto(`${site.serving.url}/login?then=${encodeURIComponent(then)}`);
    await seen.page.getByLabel("E-mail").fill("ann@example.org");
    await seen.page.getByRole("textbox", { name: "Password" }).fill("correct horse battery");
    await seen.page.getByRole("button", { name: "Sign in", exact: true }).click();
    await seen.page.getByRole("heading", { name: "Workspaces" }).waitFor();
    // Asking who is signed in is answered with 401 at first.
    seen.wrongs.splice(
      0,
      seen.wrongs.length,
      ...seen.wrongs.filter((each) => !each.includes("status of 401")),
    );
    expect(seen.wrongs).toEqual([]);
  }
});
