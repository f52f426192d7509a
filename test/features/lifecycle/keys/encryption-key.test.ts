/** A workspace's key is rotated: its secrets remain readable, whatever happens meanwhile. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { variables } from "../../../../src/features/assets/variable-tables.ts";
import { inputs } from "../../../../src/features/runs/api/inputs/tables.ts";
import { readSigningSecrets } from "../../../../src/features/signals/webhooks/endpoints.ts";
import { webhookEndpoints } from "../../../../src/features/signals/webhooks/tables.ts";
import { resumableOperations } from "../../../../src/features/tenancy/resumable/tables.ts";
import {
  decryptSecret,
  encryptSecret,
  invalidateKey,
} from "../../../../src/features/tenancy/workspaces/secrets.ts";
import { workspaces } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { cutOff } from "../../../support/cut-off.ts";
import {
  type Ask,
  createDatabase,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";
import { SVC_SECRET_KEY } from "../../../support/two-servers.ts";

let server: TestServer;
let admin: Ask;
let dev: Ask;

beforeAll(async () => {
  server = await startTestServer();
  admin = (await server.workspace()).ask;
  dev = (await server.member("acme", "dev")).ask;
}, 60_000);
afterAll(() => server.stop());

const path = "/w/acme/workspaces/encryption_key";
const keyNumber = (n: number) => `${n}`.padStart(64, "k");
const secret = (name: string, value = `value of ${name}`) => ({
  path: `u/admin/${name}`,
  value,
  is_secret: true,
  description: "",
});
const read = async (name: string, ask = admin) =>
  (await expectOk(ask("GET", `/w/acme/variables/get_value/u/admin/${name}`))).json();
const stored = async (name: string) =>
  (
    await server.server.app.db.read
      .select({ value: variables.value })
      .from(variables)
      .where(eq(variables.path, `u/admin/${name}`))
  )[0]!.value;

test("only admins read and rotate the key, and both leave an audit row without it", async () => {
  const key = (await expectOk(admin("GET", path))).json().key;
  expect(key).toMatch(/^[A-Za-z0-9]{64}$/);
  expect((await dev("GET", path)).status).toBe(403);
  expect((await dev("POST", path, { new_key: keyNumber(1) })).status).toBe(403);
  await expectOk(admin("POST", path, { new_key: keyNumber(1) }));
  expect((await admin("GET", path)).json()).toEqual({ key: keyNumber(1) });
  const rows = (await admin("GET", "/w/acme/audit/list")).json();
  expect(rows.slice(0, 3).map((row: any) => `${row.operation} ${row.action_kind}`)).toEqual([
    "workspaces.get_encryption_key Execute",
    "workspaces.set_encryption_key Update",
    "workspaces.get_encryption_key Execute",
  ]);
  for (const text of [key, keyNumber(1)]) expect(JSON.stringify(rows)).not.toContain(text);
});

test.each([
  [{}, "`new_key`"],
  [{ new_key: "" }, "must have 1 to 1000 characters"],
  [{ new_key: "x".repeat(1001) }, "must have 1 to 1000 characters"],
])("%j is rejected with the allowed form", async (body, says) => {
  const answer = await admin("POST", path, body);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
});

test("every secret is re-encrypted; the old key decrypts nothing new", async () => {
  await expectOk(admin("POST", "/w/acme/variables/create", secret("one")));
  const plain = { ...secret("plain"), is_secret: false };
  await expectOk(admin("POST", "/w/acme/variables/create", plain));
  const sealed = (await expectOk(admin("POST", "/w/acme/variables/encrypt", '"x"'))).text;
  const before = await stored("one");
  const answer = await expectOk(admin("POST", path, { new_key: keyNumber(2) }));
  expect(answer.text).toContain("1 secrets re-encrypted");
  expect(await stored("one")).not.toBe(before);
  expect([await read("one"), await read("plain")]).toEqual(["value of one", "value of plain"]);
  await expectOk(admin("POST", path, { new_key: keyNumber(3) }));
  const old = { ...secret("old", sealed) };
  await expectOk(admin("POST", "/w/acme/variables/create?already_encrypted=true", old));
  const unread = await admin("GET", `/w/acme/variables/get_value/${old.path}`);
  expect([unread.status, unread.text]).toEqual([400, expect.stringContaining("encrypted elsewhere")]);
  await expectOk(admin("DELETE", `/w/acme/variables/delete/${old.path}`));
});

test("any text can be a key, and uses more than its own digits", async () => {
  const { createHash } = await import("node:crypto");
  const { decryptText } = await import("../../../../src/lib/crypto/seal.ts");
  await expectOk(admin("POST", "/w/acme/variables/create", secret("short_key")));
  for (const new_key of ["short", "two words, and ü", "x".repeat(65)]) {
    await expectOk(admin("POST", path, { new_key }));
    expect((await admin("GET", path)).json()).toEqual({ key: new_key });
    expect(await read("short_key")).toBe("value of short_key");
    const digest = createHash("sha256").update(new_key).digest();
    expect(decryptText(digest, await stored("short_key"), "acme")).toBeUndefined();
  }
  await expectOk(admin("POST", path, { new_key: keyNumber(3) }));
  const digest = createHash("sha256").update(keyNumber(3)).digest();
  expect(decryptText(digest, await stored("short_key"), "acme")).toBe("value of short_key");
});

test("webhook secrets and encrypted arguments are re-encrypted with a new key, and survive a change of the workspace's id", async () => {
  const ask = (await server.workspace("sealed")).ask;
  const { app } = server.server;
  const echo = "export const main = (own: string, given: string) => `${own.length} ${given.length}`";
  const schema = { type: "object", properties: { own: { type: "string", format: "password" } } };
  await deploy(ask, "sealed", "u/admin/echo", echo, { schema });
  const endpoint = { url: "https://example.org/hook", description: "" };
  const made = (await expectOk(ask("POST", "/w/sealed/webhooks/create", endpoint))).json();
  await expectOk(ask("POST", `/w/sealed/webhooks/rotate_secret/${made.id}`));
  const given = `$encrypted:${(await expectOk(ask("POST", "/w/sealed/variables/encrypt", '"four"'))).text}`;
  const args = { own: "sesame", given };
  const later = "/w/sealed/jobs/run/p/u/admin/echo?scheduled_in_secs=3600";
  const id = (await expectOk(ask("POST", later, args))).text;
  const input = { name: "kept", args: { given } };
  const query = "runnable_id=u/admin/echo&runnable_type=ScriptPath";
  await expectOk(ask("POST", `/w/sealed/inputs/create?${query}`, input));
  const rowOf = async () => (await app.db.read.select().from(jobs).where(eq(jobs.id, id)))[0]!;
  const before = await rowOf();
  expect(before.args).toMatch(/"own":"\$encrypted:/);

  await expectOk(ask("POST", "/w/sealed/workspaces/encryption_key", { new_key: keyNumber(7) }));
  await expectOk(ask("POST", "/w/sealed/workspaces/change_workspace_id", { new_id: "moved" }));
  invalidateKey(app, "moved");

  const [hook] = await app.db.read
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, "moved"));
  const signs = await readSigningSecrets(app, hook!);
  expect([signs.length, signs[1]]).toEqual([2, made.secret]);
  const [saved] = await app.db.read.select().from(inputs).where(eq(inputs.workspace_id, "moved"));
  expect(JSON.parse(saved!.args).given).not.toBe(given);
  expect((await rowOf()).args).not.toBe(before.args);
  await app.db.write((tx) => tx.update(jobs).set({ scheduled_for: new Date() }).where(eq(jobs.id, id)));
  app.queue.wake();
  const ended = await until(async () => {
    const row = await rowOf();
    return row.state === "completed" ? row : undefined;
  }, "the job that waited");
  expect([ended.status, JSON.parse(ended.result!)]).toEqual(["success", "6 4"]);
  const again = await ask("POST", "/w/moved/jobs/run_wait_result/p/u/admin/echo", {
    own: "x",
    given: JSON.parse(saved!.args).given,
  });
  expect(again.json()).toBe("1 4");
}, 60_000);

test("skip_reencrypt leaves secrets unchanged: they were encrypted with that key elsewhere", async () => {
  await expectOk(admin("POST", "/w/acme/variables/create", secret("kept")));
  const before = await stored("kept");
  await expectOk(admin("POST", path, { new_key: keyNumber(4), skip_reencrypt: true }));
  expect(await stored("kept")).toBe(before);
  expect((await admin("GET", "/w/acme/variables/get_value/u/admin/kept")).status).toBe(400);
  await expectOk(admin("POST", path, { new_key: keyNumber(3), skip_reencrypt: true }));
  expect(await read("kept")).toBe("value of kept");
});

test("reads and writes continue while the key of many secrets is rotated, and none is lost", async () => {
  const { app } = server.server;
  const many = Array.from({ length: 10_000 }, (_, index) => `many_${index}`);
  const rows = await Promise.all(
    many.map(async (name) => ({
      workspace_id: "acme",
      path: `u/admin/${name}`,
      value: await encryptSecret(app, app.db.read, "acme", `value of ${name}`),
      is_secret: true,
      description: "",
      is_oauth: false,
      extra_perms: {},
    })),
  );
  await app.db.write(async (tx) => {
    for (let at = 0; at < rows.length; at += 500) await tx.insert(variables).values(rows.slice(at, at + 500));
  });
  let done = false;
  const exchanging = (async () => {
    for (let n = 10; n < 14; n++) await expectOk(admin("POST", path, { new_key: keyNumber(n) }));
    done = true;
  })();
  let written = 0;
  for (let index = 0; !done; index = (index + 37) % many.length) {
    expect(await read(many[index]!)).toBe(`value of ${many[index]}`);
    await expectOk(admin("POST", "/w/acme/variables/create", secret(`new_${written}`)));
    written++;
  }
  await exchanging;
  for (let index = 0; index < written; index++) {
    expect(await read(`new_${index}`)).toBe(`value of new_${index}`);
  }
  // All of them, through the shorter operation.
  await expectOk(admin("POST", path, { new_key: keyNumber(20) }));
  const all = await app.db.read.select().from(variables).where(eq(variables.is_secret, true));
  for (const { path: at, value } of all) {
    const expected = `value of ${at.replace("u/admin/", "")}`;
    expect(await decryptSecret(app, app.db.read, "acme", value)).toBe(expected);
  }
}, 60_000);

test("secrets encrypted and read during a rotation can be decrypted before and after it", async () => {
  const { app } = server.server;
  const before = await stored("one");
  await Promise.all([
    expectOk(admin("POST", path, { new_key: keyNumber(25) })),
    app.db.write(async (tx) => {
      const value = await encryptSecret(app, tx, "acme", "value of late");
      const row = { ...secret("late", value), workspace_id: "acme", is_oauth: false, extra_perms: {} };
      await tx.insert(variables).values(row);
    }),
  ]);
  expect(await decryptSecret(app, app.db.read, "acme", before)).toBe("value of one");
  // The previous key, cached by this process, must not be able to decrypt it.
  invalidateKey(app, "acme");
  expect(await read("late")).toBe("value of late");
}, 60_000);

test("two concurrent rotations leave one key, which decrypts everything", async () => {
  const keys = [keyNumber(31), keyNumber(32), keyNumber(33)];
  await Promise.all(keys.map((new_key) => expectOk(admin("POST", path, { new_key }))));
  expect(keys).toContain((await admin("GET", path)).json().key);
  expect([await read("one"), await read("many_77")]).toEqual(["value of one", "value of many_77"]);
}, 60_000);

test.each([1, 2, 4])(
  "a rotation interrupted after %d commits continues, and all secrets stay readable",
  async (commits) => {
    const place: Parameters<typeof cutOff>[0] = { data_dir: mkdtempSync(join(tmpdir(), "svc-key-")) };
    const own = process.env.DATABASE_URL ? await createDatabase(process.env.DATABASE_URL) : undefined;
    if (own) Object.assign(place, { database_url: own.url, secret_key: SVC_SECRET_KEY });
    try {
      const first = await startTestServer({ ...place, lease_s: 3 });
      await first.workspace();
      const { app } = first.server;
      const rows = await Promise.all(
        Array.from({ length: 1_000 }, async (_, index) => ({
          ...secret(`s${index}`, await encryptSecret(app, app.db.read, "acme", `value of s${index}`)),
          workspace_id: "acme",
          is_oauth: false,
          extra_perms: {},
        })),
      );
      await app.db.write((tx) => tx.insert(variables).values(rows));
      await first.stop();
      const call = ["POST", path, { new_key: keyNumber(9) }] as [string, string, unknown];
      expect(await cutOff(place, commits, call)).toBe(true);

      await using again = await startTestServer({ ...place, lease_s: 3 });
      const { app: next } = again.server;
      const everything = async () => {
        for (const { path: name, value } of await next.db.read.select().from(variables)) {
          const opened = await decryptSecret(next, next.db.read, "acme", value);
          expect(opened).toBe(`value of ${name.replace("u/admin/", "")}`);
        }
      };
      await everything();
      const isOver = async () =>
        (await next.db.read.select().from(resumableOperations)).length === 0 || undefined;
      await until(isOver, "the exchange is finished");
      expect((await again.operator("GET", path)).json()).toEqual({ key: keyNumber(9) });
      // The previous key is deleted from the database and from memory.
      const [workspace] = await next.db.read.select().from(workspaces).where(eq(workspaces.id, "acme"));
      expect(workspace!.previous_wrapped_key).toBeNull();
      invalidateKey(next, "acme");
      await everything();
    } finally {
      rmSync(place.data_dir, { recursive: true, force: true });
      await own?.drop();
    }
  },
  60_000,
);
