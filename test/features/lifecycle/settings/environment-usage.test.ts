/** Variables of a workspace's environment, and its usage. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk } from "../../../support/harness.ts";
import { license } from "../../../support/peers/license.ts";
import { admin, BASE, dev, server, setUpWorkspaceSettings } from "./workspace-settings-setup.ts";

setUpWorkspaceSettings();

describe("a variable of the workspace's environment", () => {
  const set = (name: string, value: string | null) =>
    expectOk(admin("POST", `${BASE}/set_environment_variable`, { name, value }));
  const run = async () =>
    (await expectOk(dev("POST", "/w/acme/jobs/run_wait_result/h/HASH".replace("HASH", hash), {}))).json();
  let hash: string;

  test("is in the environment of the next job, warm or not, until it is removed", async () => {
    hash = await deploy(dev, "acme", "u/dev/region", "export const main = () => process.env.REGION ?? null");
    expect(await run()).toBeNull();
    await set("REGION", "eu-1");
    expect(await run()).toBe("eu-1");
    await set("REGION", "eu-2");
    expect(await run()).toBe("eu-2");
    await set("REGION", null);
    expect(await run()).toBeNull();
    const rows = (await admin("GET", "/w/acme/audit/list?operation=workspaces.set_environment")).json();
    expect(rows[0]).toMatchObject({ parameters: { name: "REGION" } });
    expect(JSON.stringify(rows)).not.toContain("eu-1");
  });

  test("is overridden by the script's own value, and does not reach other workspaces", async () => {
    await set("REGION", "workspace");
    const own = await deploy(dev, "acme", "u/dev/own", "export const main = () => process.env.REGION", {
      envs: ["REGION=script"],
    });
    const path = `/jobs/run_wait_result/h/${own}`;
    expect((await expectOk(dev("POST", `/w/acme${path}`, {}))).json()).toBe("script");
    const bash = await deploy(dev, "acme", "u/dev/bash", 'echo "$REGION"', { language: "bash" });
    expect((await expectOk(dev("POST", `/w/acme/jobs/run_wait_result/h/${bash}`, {}))).json()).toBe(
      "workspace",
    );
    const { ask } = await server.workspace("third");
    await deploy(ask, "third", "u/admin/region", "export const main = () => process.env.REGION ?? null");
    const answer = await expectOk(ask("POST", "/w/third/jobs/run_wait_result/p/u/admin/region", {}));
    expect(answer.json()).toBeNull();
  });
});

describe("the usage of a workspace", () => {
  test("is one execution for every started second of a job, this month, by workspace", async () => {
    const { ask } = await server.workspace("counted");
    const usage = async () => (await expectOk(ask("GET", "/w/counted/workspaces/usage"))).json();
    expect(await usage()).toBe(0);
    const code = "export const main = async (ms: number) => { await Bun.sleep(ms) }";
    await deploy(ask, "counted", "u/admin/wait", code);
    const begun = await usage();
    for (const ms of [0, 0, 1_100]) {
      await expectOk(ask("POST", "/w/counted/jobs/run_wait_result/p/u/admin/wait", { ms }));
    }
    expect((await usage()) - begun).toBeGreaterThanOrEqual(4);
    expect((await usage()) - begun).toBeLessThan(20);
    const { flushUsage } = await import("../../../../src/features/tenancy/workspaces/usage.ts");
    const before = await usage();
    await flushUsage(server.server.app);
    expect(await usage()).toBe(before);
    const info = async () => (await ask("GET", "/w/counted/workspaces/premium_info")).json();
    expect(await info()).toEqual({ premium: false, usage: before, automatic_billing: false });
    await license(server);
    await expectOk(
      ask("POST", "/w/counted/workspaces/set_automatic_billing", { automatic_billing: false, seats: 5 }),
    );
    expect(await info()).toEqual({ premium: true, usage: before, seats: 5, automatic_billing: false });
    expect((await ask("GET", "/w/counted/workspaces/is_premium")).json()).toBe(true);
    await expectOk(server.operator("POST", "/settings/global/license_key", { value: null }));
  });
});
