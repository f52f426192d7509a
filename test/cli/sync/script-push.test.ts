/** `svc script push`: a new version of the code, and nothing else changes. */
import { expect, test } from "bun:test";
import { deploy, expectOk, startTestServer } from "../../support/harness.ts";
import { createCliEnvironment } from "../program.ts";

const SETTINGS = {
  summary: "Charges a card",
  description: "At night",
  kind: "failure",
  tag: "gpu",
  envs: ["REGION=eu"],
  timeout: 30,
  priority: 5,
  cache_ttl: 60,
  concurrent_limit: 1,
  concurrency_time_window_s: 9,
  concurrency_key: "cards",
  delete_after_use: true,
  restart_unless_cancelled: true,
  visible_to_runner_only: true,
  ws_error_handler_muted: true,
  isolation: "fresh",
  memory_mb: 128,
  on_behalf_of_email: "admin_acme@example.org",
};

test("pushing a script's file keeps its settings, except for given options", async () => {
  using place = createCliEnvironment();
  await using server = await startTestServer({ data_dir: place.data_dir });
  const { ask } = await server.workspace("acme");
  const path = "u/admin/charge";
  await deploy(ask, "acme", path, "export const main = (card: string) => card", SETTINGS);
  const content = "export const main = (card: string, cents: number) => card + cents";
  const push = ["script", "push", await place.file("charge.ts", content), path, "--workspace", "acme"];
  const pushed = async (...options: string[]) => {
    expect(await place.svc([...push, ...options])).toMatchObject({ code: 0 });
    return (await expectOk(ask("GET", `/w/acme/scripts/get/p/${path}`))).json();
  };
  const script = await pushed();
  expect(script).toMatchObject({ ...SETTINGS, content });
  expect(Object.keys(script.schema.properties)).toEqual(["card", "cents"]);
  const other = { summary: "Charges", isolation: "shared", memory_mb: 256 };
  expect(await pushed("--summary", "Charges", "--isolation", "shared", "--memory", "256")).toMatchObject({
    ...SETTINGS,
    ...other,
  });
}, 60_000);
