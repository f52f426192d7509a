/** Expiry of tokens with several servers, and after failures. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expireTokens } from "../../../../src/features/accounts/tokens/expiry-task.ts";
import { webhookEvents } from "../../../../src/features/signals/webhooks/tables.ts";
import { createDatabase, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { plainSettings, startMailServer } from "../../../support/peers/mail-server.ts";
import {
  awaitNotices,
  create,
  DAY_MS,
  eventsTold,
  inDays,
  mails,
  receiver,
  set,
  setUpExpiry,
  subjects,
} from "./token-expiry-setup.ts";

setUpExpiry();

const postgres = process.env.DATABASE_URL;

describe("across servers", () => {
  test("a server that starts later sends nothing twice", async () => {
    const data_dir = mkdtempSync(join(tmpdir(), "svc-test-"));
    const database = postgres ? await createDatabase(postgres, "migrated") : undefined;
    const options = { data_dir, database_url: database?.url, allowed_targets: "127.0.0.1" };
    const first = await startTestServer(options);
    const { ask: owner, token } = await first.workspace();
    const { token: rootToken, ask: own } = await first.user("root", { super_admin: true });
    await set("smtp_settings", plainSettings(mails), own);
    await expectOk(owner("POST", "/w/acme/webhooks/create", { url: receiver.url }));
    await create({ expiration: inDays(3), workspace_id: "acme" }, owner);
    await create({ expiration: inDays(10), workspace_id: "acme" }, owner);
    await expireTokens(first.server.app);
    await eventsTold(1);
    await first.stop();
    const second = await startTestServer(options);
    expect((await second.as(rootToken)("GET", "/users/whoami")).status).toBe(200);
    await expireTokens(second.server.app);
    Object.assign(second.server.app, { clock: () => new Date(Date.now() + 4 * DAY_MS) });
    await expireTokens(second.server.app);
    await eventsTold(3);
    await second.stop();
    const third = await startTestServer(options);
    Object.assign(third.server.app, { clock: () => new Date(Date.now() + 4 * DAY_MS) });
    await expireTokens(third.server.app);
    expect((await third.as(token)("GET", "/users/tokens/list")).json()).toHaveLength(2);
    await third.stop();
    expect(receiver.events.map(({ type }) => type).sort()).toEqual([
      "TokenExpired",
      "TokenExpiringSoon",
      "TokenExpiringSoon",
    ]);
    expect((await subjects(3)).sort()).toEqual(["has expired", "is expiring soon", "is expiring soon"]);
    await database?.drop();
    rmSync(data_dir, { recursive: true, force: true });
  }, 60_000);

  test("a mail of a killed server is sent by the next, and no event twice", async () => {
    const data_dir = mkdtempSync(join(tmpdir(), "svc-test-"));
    const database = postgres ? await createDatabase(postgres, "migrated") : undefined;
    const options = { data_dir, database_url: database?.url, allowed_targets: "127.0.0.1" };
    const ids: string[] = [];
    let answers = false;
    await using mailer = await startMailServer({
      disabledCommands: ["STARTTLS"],
      authOptional: true,
      onData(stream, _session, done) {
        let source = "";
        stream.on("data", (piece: Buffer) => {
          source += piece.toString();
        });
        stream.on("end", () => {
          ids.push(/^Message-ID: (.*)\r$/im.exec(source)![1]!);
          if (answers) done();
        });
      },
    });
    const first = await startTestServer(options);
    const { ask: owner } = await first.workspace();
    await expectOk(owner("POST", "/w/acme/webhooks/create", { url: receiver.url }));
    const { ask: own } = await first.user("root", { super_admin: true });
    await set("smtp_settings", plainSettings(mailer), own);
    await create({ expiration: inDays(3), workspace_id: "acme" }, owner);
    await first.stop();

    const killed = Bun.spawn(
      [process.execPath, join(import.meta.dir, "../../../../cli/main.ts"), "serve", "--port", "0"],
      {
        env: {
          PATH: process.env.PATH ?? "",
          HOME: data_dir,
          SVC_DATA_DIR: data_dir,
          SVC_ALLOWED_TARGETS: "127.0.0.1",
          ...(database ? { DATABASE_URL: database.url } : {}),
        },
        stdio: ["ignore", "ignore", "ignore"],
      },
    );
    await until(() => (ids.length > 0 ? true : undefined), "the mail that is never answered");
    killed.kill("SIGKILL");
    await killed.exited;

    answers = true;
    const next = await startTestServer(options);
    await expireTokens(next.server.app);
    expect(ids).toHaveLength(1);
    // After every server's lease for the notification has expired.
    Object.assign(next.server.app, { clock: () => new Date(Date.now() + 150_000) });
    await expireTokens(next.server.app);
    await expireTokens(next.server.app);
    await awaitNotices(next);
    expect(ids).toEqual([ids[0]!, ids[0]!]);
    const stored = await next.server.app.db.read.select({ type: webhookEvents.type }).from(webhookEvents);
    expect(stored).toEqual([{ type: "TokenExpiringSoon" }]);
    await next.stop();
    await database?.drop();
    rmSync(data_dir, { recursive: true, force: true });
  }, 60_000);

  test.skipIf(!postgres)(
    "of several servers that check at once, one sends the event",
    async () => {
      const database = await createDatabase(postgres!, "migrated");
      const options = { database_url: database.url, allowed_targets: "127.0.0.1", secret_key: "of both" };
      const [one, other] = [await startTestServer(options), await startTestServer(options)];
      const { ask: owner } = await one.workspace();
      const { ask: own } = await one.user("root", { super_admin: true });
      await set("smtp_settings", plainSettings(mails), own);
      await until(
        () => (other.server.app.settings.get("smtp_settings") ? true : undefined),
        "the setting to be known",
      );
      await expectOk(owner("POST", "/w/acme/webhooks/create", { url: receiver.url }));
      for (let at = 0; at < 10; at++) {
        await create({ expiration: inDays(3), workspace_id: "acme" }, owner);
      }
      const both = () => Promise.all([one, other, one, other].map((each) => expireTokens(each.server.app)));
      await both();
      await eventsTold(10);
      for (const each of [one, other]) {
        Object.assign(each.server.app, { clock: () => new Date(Date.now() + 4 * DAY_MS) });
      }
      await both();
      await eventsTold(20);
      await both();
      await awaitNotices(one);
      expect([receiver.events.length, mails.received.length]).toEqual([20, 20]);
      await one.stop();
      await other.stop();
      await database.drop();
    },
    60_000,
  );
});
