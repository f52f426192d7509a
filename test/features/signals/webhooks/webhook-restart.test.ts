/** Events outlive the server that stored them. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk, startTestServer, until } from "../../../support/harness.ts";

test.skipIf(Boolean(process.env.DATABASE_URL))("pending deliveries are sent by the next server", async () => {
  const data_dir = mkdtempSync(join(tmpdir(), "svc-test-"));
  const messages: string[] = [];
  let status = 500;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      messages.push(await request.text());
      return new Response("", { status });
    },
  });
  const options = { data_dir, allowed_targets: "127.0.0.1" };
  const first = await startTestServer(options);
  const { ask, token } = await first.workspace();
  const url = `http://127.0.0.1:${receiver.port}/`;
  await expectOk(ask("POST", "/w/acme/webhooks/create", { url }));
  for (let at = 0; at < 20; at++) {
    const body = { path: `u/admin/v${at}`, value: "", is_secret: false, description: "" };
    await expectOk(ask("POST", "/w/acme/variables/create", body));
  }
  await first.stop();
  expect(messages.length).toBeLessThan(20);
  status = 200;
  messages.length = 0;
  const second = await startTestServer(options);
  // Earlier attempts are due at a later time, which is now.
  Object.assign(second.server.app, { clock: () => new Date(Date.now() + 60_000) });
  const wakes = { path: "u/admin/last", value: "", is_secret: false, description: "" };
  await expectOk(second.as(token)("POST", "/w/acme/variables/create", wakes));
  const told = await until(async () => {
    const paths = new Set(messages.map((body) => JSON.parse(body).path));
    return paths.size === 21 ? paths : undefined;
  }, "all events");
  expect(told).toContain("u/admin/v19");
  await second.stop();
  await receiver.stop(true);
  rmSync(data_dir, { recursive: true, force: true });
});
