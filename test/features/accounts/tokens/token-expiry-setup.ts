/** A server whose clock is moved ahead, and its notifications about expiring tokens. */
import { afterAll, afterEach, beforeAll, beforeEach } from "bun:test";
import { eq } from "drizzle-orm";
import { tokenNotices, tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer, until } from "../../../support/harness.ts";
import { type MailServer, plainSettings, startPlainMailServer } from "../../../support/peers/mail-server.ts";

export const DAY_MS = 86_400_000;

export let server: TestServer;
export let ask: Ask;
export let root: Ask;
export let mails: MailServer;
export let receiver: ReturnType<typeof startReceiver>;
/** How far the server's clock is ahead. */
let ahead_ms = 0;

export function startReceiver() {
  const events: Record<string, string>[] = [];
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      events.push(JSON.parse(await request.text()));
      return new Response("thanks");
    },
  });
  return { events, url: `http://127.0.0.1:${http.port}/`, stop: () => http.stop(true) };
}

/** Moves the server's clock ahead of the real one, until the test ends. */
export function moveAhead(ms: number): void {
  ahead_ms = ms;
}

export const set = (key: string, value: unknown, by = root) =>
  expectOk(by("POST", `/settings/global/${key}`, { value }));

export const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

export const create = async (body: object, by = ask) =>
  (await expectOk(by("POST", "/users/tokens/create", { label: "ci", ...body }))).text;

/** The server's own task may be the one that sends the mail. */
export const subjects = async (count: number) => {
  await until(() => (mails.received.length >= count ? true : undefined), `${count} mails`);
  return mails.received.map(({ source }) => /^Subject: svc: Your API token (.*)\r$/m.exec(source)?.[1]);
};
export const awaitNotices = ({ server: { app } }: TestServer) =>
  until(
    async () => ((await app.db.read.select().from(tokenNotices)).length === 0 ? true : undefined),
    "all notices to be told",
  );
export const eventsTold = async (count: number, fits = (_event: Record<string, string>) => true) => {
  const fitting = () => receiver.events.filter(fits);
  await until(() => (fitting().length >= count ? true : undefined), `${count} events`);
  return fitting();
};

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpExpiry(): void {
  beforeAll(async () => {
    server = await startTestServer({ allowed_targets: "127.0.0.1", min_free_mb: 0 });
    Object.assign(server.server.app, { clock: () => new Date(Date.now() + ahead_ms) });
    ({ ask } = await server.workspace());
    root = (await server.user("root", { super_admin: true })).ask;
    mails = await startPlainMailServer();
    receiver = startReceiver();
    await expectOk(ask("POST", "/w/acme/webhooks/create", { url: receiver.url }));
  });
  afterAll(async () => {
    await server.stop();
    await mails[Symbol.asyncDispose]();
    await receiver.stop();
  });
  beforeEach(async () => {
    await set("smtp_settings", plainSettings(mails));
  });
  afterEach(async () => {
    ahead_ms = 0;
    await server.server.app.db.write(async (tx) => {
      await tx.delete(tokenNotices);
      await tx.delete(tokens).where(eq(tokens.label, "ci"));
    });
    await set("max_token_lifetime_secs", null);
    await set("critical_alerts_on_token_expiry", null);
    mails.received.length = 0;
    receiver.events.length = 0;
  });
}
