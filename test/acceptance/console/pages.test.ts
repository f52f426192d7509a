/**
 * Each page in light and dark, with and without data: accessible, and without errors in the browser's console.
 */
import { expect, test } from "bun:test";
import { visit } from "./browser.ts";
import type { SampleWorkspace } from "./filled.ts";
import { useSite } from "./site.ts";

const site = useSite();

const PAGES: Record<string, (ids: SampleWorkspace) => [address: string, shows: string]> = {
  home: () => ["w/acme", "Nightly report"],
  runs: () => ["w/acme/runs", "Script or flow"],
  "runs-none": () => ["w/acme/runs?path=u/nobody", "No run matches"],
  "run-failed": ({ failed }) => [`w/acme/runs/${failed}`, "no such customer"],
  "run-table": ({ table }) => [`w/acme/runs/${table}`, "revenue"],
  "run-flow": ({ flow }) => [`w/acme/runs/${flow}`, "Steps"],
  "begin-script": () => ["w/acme/begin/script/f/finance/refund", "What the customer said"],
  "begin-flow": () => ["w/acme/begin/flow/f/finance/nightly", "It takes no arguments"],
  script: () => ["w/acme/scripts/f/finance/refund", "Deployed by"],
  "script-versions": () => ["w/acme/scripts/f/finance/refund?tab=versions", "deployed"],
  "script-webhooks": () => ["w/acme/scripts/f/finance/refund?tab=webhooks", "curl"],
  "script-triggers": () => ["w/acme/scripts/f/finance/refund?tab=triggers", "No triggers yet"],
  "script-settings": () => ["w/acme/scripts/f/finance/refund?tab=settings", "Keep results, in seconds"],
  "script-access": () => ["w/acme/scripts/f/finance/refund?tab=access", "owns the folder finance"],
  flow: () => ["w/acme/flows/f/finance/nightly", "Graph"],
  schedules: () => ["w/acme/schedules", "No schedules yet"],
  triggers: () => ["w/acme/triggers", "HTTP routes"],
  webhooks: () => ["w/acme/webhooks", "Outgoing webhooks"],
  variables: () => ["w/acme/variables", "No variables yet"],
  resources: () => ["w/acme/resources", "No resources yet"],
  edit: () => ["w/acme/edit/f/finance/refund", "Run what is in the editor"],
  "new-script": () => ["w/acme/new/script", "Belongs to"],
  people: () => ["w/acme/people", "Invite somebody"],
  groups: () => ["w/acme/people?tab=groups", "New group"],
  folders: () => ["w/acme/people?tab=folders", "owned by u/ann"],
  audit: () => ["w/acme/audit", "scripts.create"],
  "audit-none": () => ["w/acme/audit?username=nobody", "No entry matches"],
  settings: () => ["w/acme/settings", "Workspace webhook"],
  "settings-runs": () => ["w/acme/settings?tab=runs", "Error handler"],
  "settings-secrets": () => ["w/acme/settings?tab=secrets", "Encryption key"],
  "settings-usage": () => ["w/acme/settings?tab=usage", "Executions in the last seven days"],
  "settings-git": () => ["w/acme/settings?tab=git", "svc pull ./acme"],
  tokens: () => ["w/acme/tokens", "Your tokens"],
  "instance-health": () => ["w/acme/instance", "The server is ready"],
  "instance-workers": () => ["w/acme/instance?tab=workers", "on "],
  "instance-alerts": () => ["w/acme/instance?tab=alerts", "No alerts"],
  "instance-settings": () => ["w/acme/instance?tab=settings&q=smtp", "smtp_settings"],
  "instance-accounts": () => ["w/acme/instance?tab=accounts", "ann@example.org"],
  "instance-workspaces": () => ["w/acme/instance?tab=workspaces", "Created by"],
  "instance-mail": () => ["w/acme/instance?tab=mail", "Send a test mail"],
  "instance-backup": () => ["w/acme/instance?tab=backup", "svc backup"],
  "instance-license": () => ["w/acme/instance?tab=license", "No valid license"],
  "new-flow": () => ["w/acme/new/flow", "Start from"],
  draw: () => ["w/acme/draw/f/finance/nightly", "No changes since the last deployment"],
  "flow-yaml": () => ["w/acme/flows/f/finance/nightly?tab=yaml", "Nightly report"],
  workspaces: () => ["workspaces", "Acme"],
  missing: () => ["w/acme/nowhere", "There is no such page"],
};

for (const scheme of ["light", "dark"] as const) {
  for (const [name, of] of Object.entries(PAGES)) {
    test(`${name}, ${scheme}`, async () => {
      const [address, shows] = of(site.filled);
      await using seen = await site.visit({ scheme });
      await seen.open(address);
      await seen.page.getByText(shows).first().waitFor();
      await seen.picture(`${name}-${scheme}`);
      await seen.accessible(name);
      expect(seen.wrongs).toEqual([]);
    });
  }
}

test("the pages before and after the login", async () => {
  await using seen = await visit(site.browser, site.serving.url);
  await seen.open("w/acme/runs?status=failed");
  await seen.page.getByRole("heading", { name: "Sign in" }).waitFor();
  await seen.picture("login-light");
  await seen.accessible("sign in");
  // The request for the signed-in user is answered with 401 at first.
  seen.wrongs.splice(0, seen.wrongs.length, ...seen.wrongs.filter((each) => !each.includes("401")));
});
