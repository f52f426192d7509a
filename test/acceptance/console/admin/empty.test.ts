/** Pages of an empty workspace: what they are for, the next step, and the command that does the same. */
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { PASSWORD } from "../filled.ts";
import { useSite } from "../site.ts";

const site = useSite();
const tokens: Record<string, string> = {};

/** Title and next step of each page. */
const EMPTY: Record<string, [title: string, step: string]> = {
  "": ["Start with a script", "Use it"],
  runs: ["No runs yet", "Choose what to run"],
  schedules: ["No schedules yet", "New schedule"],
  triggers: ["No HTTP routes yet", "New HTTP route"],
  "triggers?tab=websockets": ["No WebSocket triggers yet", "New WebSocket trigger"],
  "triggers?tab=others": ["No triggers of other kinds", ""],
  variables: ["No variables yet", "New variable"],
  resources: ["No resources yet", "New resource"],
  webhooks: ["No endpoints yet", "New endpoint"],
  "settings?tab=usage": ["Nothing ran in the last seven days", "Choose what to run"],
  "instance?tab=alerts": ["No alerts", ""],
  tokens: ["No tokens yet", "New token"],
};

beforeAll(async () => {
  const { ask } = site.filled;
  for (const id of ["empty", "bare"])
    await ask("POST", "/workspaces/create", { id, name: id, username: "ann" });
  for (const [username, is_admin] of Object.entries({ eve: true, olga: false })) {
    const email = `${username}@example.org`;
    await ask("POST", "/users/create", { email, password: PASSWORD, super_admin: is_admin });
    const member = { email, username, is_admin, operator: !is_admin };
    for (const id of ["empty", "bare"]) await ask("POST", `/w/${id}/workspaces/add_user`, member);
    // A session is used because a token would appear in the list.
    const response = await fetch(`${site.serving.url}/api/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    tokens[username] = await response.text();
  }
});

test("an empty page explains its purpose and offers the next step, and its command works", async () => {
  const commands: string[] = [];
  await using seen = await site.visit({ token: tokens.eve! });
  for (const [address, [title, step]] of Object.entries(EMPTY)) {
    await seen.open(`w/empty/${address}`);
    const empty = seen.page.locator(".empty");
    await empty.getByRole("heading", { name: title }).waitFor();
    if (step !== "") {
      const offered = seen.page.getByRole("main").locator("a, button").filter({ hasText: step });
      expect(await offered.count()).toBeGreaterThan(0);
    }
    commands.push(await empty.locator("code").last().innerText());
  }
  const { folder } = site.place;
  await Bun.write(join(folder, "hello.ts"), "export const main = () => 'Hello';");
  const env = { SVC_TOKEN: site.filled.token, SVC_URL: site.serving.url, SVC_WORKSPACE: "empty" };
  const run = (line: string) => {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
    return site.place.svc(words.slice(1), { env, stdin: line.includes("resource set") ? "{}" : "value" });
  };
  for (const name of ["hello", "report", "script", "price"])
    await run(`svc script push hello.ts u/eve/${name}`);
  for (const command of commands) {
    // `svc push` needs a folder with items; values are prompted for at a terminal, which tests do not have.
    if (command === "svc push") await run("svc pull ./copy --yes");
    const line = command.replace(/^svc push$/, "svc push ./copy").replace(/^svc \w+ set u\/\S+/, "$& -");
    const { code, err } = await run(line);
    expect(`${line}: ${code} ${err}`).toStartWith(`${line}: 0 `);
  }
  expect(seen.wrongs).toEqual([]);
}, 90_000);

test("an operator is offered no step or command on an empty page that they may not take", async () => {
  await using seen = await site.visit({ token: tokens.olga! });
  const allowed = ["runs", "settings?tab=usage", "tokens"];
  for (const address of Object.keys(EMPTY).filter((each) => !/^(webhooks|instance)/.test(each))) {
    await seen.open(`w/bare/${address}`);
    const empty = seen.page.locator(".empty");
    await empty.waitFor();
    await seen.page.waitForLoadState("networkidle");
    const offered = await empty.locator("a, button, code").allInnerTexts();
    if (!allowed.includes(address)) expect([address, ...offered]).toEqual([address]);
  }
  await seen.open("w/bare/settings?tab=git");
  await seen.page.getByText("svc pull ./bare").waitFor();
  expect(await seen.page.getByText("svc push").count()).toBe(0);
  expect(seen.wrongs).toEqual([]);
}, 60_000);
