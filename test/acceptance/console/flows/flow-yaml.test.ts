/** A flow written as YAML in a real browser: completed, checked, saved, deployed, compared and restored. */
import { expect, test } from "bun:test";
import { expectSoon } from "../browser.ts";
import { createMember } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();

const NIGHTLY = "w/acme/flows/f/finance/nightly";
const stored = async () => JSON.parse(await site.filled.ask("GET", "/w/acme/flows/get/f/finance/nightly"));
const written = (type: string, more = "") => `summary: Nightly report
description: ""
value:
  modules:
    - id: a
      value:
        type: ${type}
        path: f/finance/figures
        input_transforms: {}
${more}schema:
  type: object
  properties: {}
`;

test("a flow is written, checked by the server, deployed without overwriting others, and restored", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  const editor = page.getByRole("textbox", { name: "YAML of the flow" });
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const write = async (text: string) => {
    await editor.focus();
    await page.keyboard.press("Control+A");
    await page.keyboard.insertText(text);
  };
  await seen.open(`${NIGHTLY}?tab=yaml`);
  await editor.getByText("Nightly report").waitFor();
  await expectSoon(() => button("Deploy").isDisabled(), true);
  await write("value: [");
  await page.getByText(/^Line 1: /).waitFor();
  await expectSoon(() => button("Deploy").isDisabled(), true);
  // What the server would reject, and what would fail in a run, each at its line.
  await write(written("scirpt"));
  await page.getByText(/^Line 7: .*rawscript/).waitFor();
  await write(written("script", "    - id: a\n      value: { type: identity }\n"));
  await page.getByText(/^Line 10: .*there is a step a already/).waitFor();
  await seen.picture("flow-yaml-problem");
  await seen.accessible("YAML with problems");
  await expectSoon(() => button("Deploy").isDisabled(), true);
  await write(written("script", "      contin\n"));
  await editor.getByText("contin", { exact: true }).click();
  await page.keyboard.press("End");
  await page.keyboard.press("Control+Space");
  await page.getByRole("option", { name: /continue_on_error/ }).waitFor();
  await seen.picture("flow-yaml-completion");
  await page.keyboard.press("Escape");
  await write(written("script", "    - id: c\n      value: { type: identity }\n"));
  await page.getByText("saved in this browser").waitFor();
  // A reload loses nothing.
  await page.reload();
  await editor.getByText("- id: c").waitFor();
  // Another user deploys meanwhile.
  const before = await stored();
  await site.filled.ask("POST", "/w/acme/flows/update/f/finance/nightly", {
    path: "f/finance/nightly",
    summary: "Nightly report of somebody else",
    value: before.value,
    tag: "nightly",
  });
  await button("Deploy").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("What changed").fill("A step that does nothing");
  await dialog.getByRole("button", { name: "Deploy" }).click();
  await dialog.getByText("deployed another version meanwhile").waitFor();
  await seen.picture("flow-yaml-conflict");
  await seen.accessible("conflict of versions");
  await dialog.getByRole("button", { name: "Deploy mine over it" }).click();
  await page.getByText("is deployed", { exact: false }).first().waitFor();
  await page.getByText("No changes since the last deployment").waitFor();
  const after = await stored();
  expect(after.value.modules.map(({ id }: { id: string }) => id)).toEqual(["a", "c"]);
  // Settings that the text does not contain stay unchanged.
  expect(after).toMatchObject({ summary: "Nightly report", tag: "nightly" });
  await page.getByText("Versions", { exact: true }).click();
  await page.getByText("A step that does nothing").waitFor();
  await seen.picture("flow-versions");
  await page.getByRole("button", { name: /Go back to version/ }).click();
  await page.getByText(/Restore version/).waitFor();
  expect((await stored()).value.modules.map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
  expect((await stored()).tag).toBe("nightly");
  expect(seen.wrongs).toEqual([]);
}, 120_000);

test("a flow has webhooks and triggers like a script, and readers can read its YAML", async () => {
  await using seen = await site.visit();
  const { page } = seen;
  await seen.open(`${NIGHTLY}?tab=webhooks`);
  const address = await page.getByLabel("Address of the webhook").inputValue();
  expect(address).toEndWith("/api/w/acme/jobs/run/f/f/finance/nightly");
  await page.getByRole("button", { name: "Create a token" }).click();
  const token = await page.getByLabel("Token of the webhook").inputValue();
  const called = await fetch(address, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  expect(called.status).toBe(201);
  await seen.picture("flow-webhooks");
  await seen.accessible("webhooks of a flow");
  await page.getByText("Triggers", { exact: true }).last().click();
  await page.getByRole("link", { name: "New schedule" }).click();
  await page.getByText("It takes no arguments.").waitFor();
  const runs = page.getByRole("combobox", { name: "What it runs" });
  await expectSoon(async () => (await runs.inputValue()).includes("nightly"), true);
  await createMember(site.serving, site.filled, "carl");
  await site.filled.ask("POST", "/w/acme/folders/update/finance", { extra_perms: { "u/carl": false } });
  const reader = await site.serving.operator("/users/tokens/impersonate", {
    impersonate_email: "carl@example.org",
  });
  await using other = await site.visit({ token: reader });
  await other.open(`${NIGHTLY}?tab=yaml`);
  await other.page.getByLabel("YAML of the flow").waitFor();
  expect(await other.page.getByRole("button", { name: "Deploy" }).count()).toBe(0);
  expect(other.wrongs).toEqual([]);
  expect(seen.wrongs).toEqual([]);
}, 60_000);
