/** Licenses: signed elsewhere, verified offline, renewed at their URL, and never a reason to withhold data. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { CompactSign, importPKCS8 } from "jose";
import { renewLicenseIfDue } from "../../../../src/features/instance/license/renewal.ts";
import { createKeyPair, signLicense } from "../../../../src/features/tenancy/license/signed-license.ts";
import {
  type Answer,
  type Ask,
  expectOk,
  startTestServer,
  type TestServer,
} from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";

const DAY_MS = 86_400_000;

let server: TestServer;
let ask: Ask;
let keys: Awaited<ReturnType<typeof createKeyPair>>;

beforeAll(async () => {
  server = await startTestServer({ min_free_mb: 0 });
  ask = (await server.user("root", { super_admin: true })).ask;
  keys = await createKeyPair();
  await set("license_public_key", keys.public_key);
});
afterAll(() => server.stop());
beforeEach(async () => {
  await set("license_key", null);
  await expectOk(ask("POST", "/settings/critical_alerts/acknowledge_all"));
});

const set = (key: string, value: unknown) => expectOk(ask("POST", `/settings/global/${key}`, { value }));
const post = (path: string, body?: unknown) => ask("POST", `/settings/${path}`, body);

/** A license that expires in the given number of days. */
const issue = (days: number, more: object = {}, pem = keys.private_pem) =>
  signLicense(
    {
      id: "lic-1",
      customer: "Acme",
      issued_at: new Date(),
      expires_at: new Date(Date.now() + days * DAY_MS),
      ...more,
    },
    pem,
  );

async function later(days: number, work: () => Promise<void>): Promise<void> {
  const running = server.server.app as { clock: () => Date };
  const { clock } = running;
  running.clock = () => new Date(Date.now() + days * DAY_MS);
  try {
    await work();
  } finally {
    running.clock = clock;
  }
}

const licenseId = async () => (await expectOk(ask("GET", "/ee_license"))).text;

function expectRefused(answer: Answer, text: string) {
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)]);
}

describe("a license", () => {
  test("applies once it is set, and is as hidden as any secret", async () => {
    expect(await licenseId()).toBe("");
    const key = await issue(300, { seats: 5 });
    expect((await post("test_license_key", { license_key: key })).text).toMatch(
      /^license lic-1 of Acme \(5 seats\) holds until 20/,
    );
    expect(await licenseId()).toBe("");
    await set("license_key", key);
    expect(await licenseId()).toBe("lic-1");
    expect((await expectOk(ask("GET", "/settings/list_global"))).text).not.toContain(key);
    expect(await readStored(server)).not.toContain(key);
  });

  test("with another key, changed or missing is rejected, and the previous one stays", async () => {
    await set("license_key", await issue(300));
    const other = await createKeyPair();
    const [head, body, signature] = (await issue(300)).split(".") as [string, string, string];
    const longer = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(body, "base64url").toString()), exp: 4_000_000_000 }),
    ).toString("base64url");
    const unsigned = `${Buffer.from('{"alg":"none","typ":"svc-license+jwt"}').toString("base64url")}.${body}.`;
    const pem = await importPKCS8(keys.private_pem, "Ed25519");
    const sign = (payload: object, typ: string) =>
      new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: "EdDSA", typ })
        .sign(pem);
    const cases: [string, string][] = [
      [await issue(300, {}, other.private_pem), "was not signed with the key that this instance trusts"],
      [`${head}.${longer}.${signature}`, "was not signed with the key that this instance trusts"],
      [unsigned, "this is not a license"],
      ["nonsense", "this is not a license"],
      [await sign({ sub: "Acme" }, "JWT"), "a signed token, but not a license"],
      [await sign({ sub: "Acme" }, "svc-license+jwt"), "the license is incomplete: value field `jti`"],
      [await issue(-31), "license lic-1 of Acme ended at"],
    ];
    for (const [license_key, text] of cases) {
      expectRefused(await post("test_license_key", { license_key }), text);
      expectRefused(await ask("POST", "/settings/global/license_key", { value: license_key }), text);
    }
    expect(await licenseId()).toBe("lic-1");
  });

  test("is verified with the old and the new public key during key rotation, and never without one", async () => {
    const next = await createKeyPair();
    await set("license_key", await issue(300));
    await set("license_public_key", `${next.public_key}, ${keys.public_key}`);
    expect(await licenseId()).toBe("lic-1");
    await set("license_public_key", next.public_key);
    expect(await licenseId()).toBe("");
    await set("license_public_key", null);
    expect(await licenseId()).toBe("");
    expectRefused(await post("test_license_key", { license_key: await issue(1) }), "no public key is set");
    expectRefused(
      await ask("POST", "/settings/global/license_public_key", { value: "short" }),
      '"short" is not a public key',
    );
    await set("license_public_key", keys.public_key);
    expect(await licenseId()).toBe("lic-1");
  });

  test("has a grace period of 30 days, after which only its operations are rejected and no data is lost", async () => {
    const exported = () => server.operator("GET", "/users/export");
    expect((await exported()).headers.get("svc-error")).toBe("EnterpriseRequired");
    expect((await exported()).status).toBe(403);
    await set("license_key", await issue(10));
    const before = (await expectOk(exported())).json();
    await later(39, async () => {
      expect((await exported()).json()).toEqual(before);
      expect((await server.operator("GET", "/ee_license")).text).toBe("lic-1");
      await renewLicenseIfDue(server.server.app);
      await renewLicenseIfDue(server.server.app);
    });
    const alerts = (await expectOk(ask("GET", "/settings/critical_alerts?acknowledged=false"))).json();
    expect(alerts).toHaveLength(1);
    expect(alerts[0]).toMatchObject({ kind: "license_ended", count: 1 });
    expect(alerts[0].message).toContain("Enterprise operations keep working until");
    await later(41, async () => {
      const answer = await exported();
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("the license ended at")]);
      expect((await server.operator("GET", "/ee_license")).text).toBe("");
      expect((await server.operator("GET", "/users/exists/root@example.org")).json()).toBe(true);
    });
    expect((await expectOk(exported())).json()).toEqual(before);
  });
});

describe("renewal", () => {
  /** Starts a license server. */
  function office(answer: (body: any) => Promise<Response> | Response) {
    const asked: any[] = [];
    const listener = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        asked.push(await request.json());
        return answer(asked.at(-1));
      },
    });
    const renewal_url = `http://127.0.0.1:${listener.port}/renew`;
    return { renewal_url, asked, [Symbol.dispose]: () => void listener.stop(true) };
  }
  const latest = async () => (await expectOk(ask("GET", "/settings/latest_key_renewal_attempt"))).json();

  test("has no attempts at first", async () => {
    expect(await latest()).toBeNull();
    expectRefused(await post("renew_license_key"), "no license is set");
    expectRefused(await post("customer_portal"), "no license is set");
  });

  test("requests the URL in the license, and stores the response", async () => {
    using place = office(async () => new Response(`${await issue(400, { id: "lic-2" })}\n`));
    const { renewal_url } = place;
    const key = await issue(20, { renewal_url });
    await set("license_key", key);
    const began = Date.now();
    expect((await expectOk(post("renew_license_key"))).text).toContain("license lic-2 of Acme holds until");
    expect(await licenseId()).toBe("lic-2");
    expect(place.asked).toEqual([
      { license_key: key, instance: server.server.app.settings.get("uid"), version: expect.any(String) },
    ]);
    const attempt = await latest();
    expect(attempt.result).toBe("success");
    expect(Date.parse(attempt.attempted_at)).toBeGreaterThanOrEqual(began);
    await set("license_key", null);
    await expectOk(post(`renew_license_key?license_key=${key}`));
    expect(await licenseId()).toBe("lic-2");
  });

  test.each([
    [
      "a refusal",
      () => new Response("no", { status: 402 }),
      "issued no new license: it answered with status 402",
    ],
    ["an older license", async () => new Response(await issue(10)), "the answer is not a newer license"],
    ["nonsense", () => new Response("<html>"), "this is not a license"],
  ])("keeps the current one on %s, with the reason", async (_, answer, text) => {
    using place = office(answer);
    await set("license_key", await issue(20, { renewal_url: place.renewal_url }));
    expectRefused(await post("renew_license_key"), text);
    expect(await licenseId()).toBe("lic-1");
    expect((await latest()).result).toContain(text);
  });

  test("needs a URL", async () => {
    await set("license_key", await issue(20));
    expectRefused(await post("renew_license_key"), "has no renewal address");
    expectRefused(await post("customer_portal"), "names no customer portal");
    const portal_url = "https://licenses.example.org/acme";
    await set("license_key", await issue(20, { portal_url }));
    expect(await post("customer_portal")).toMatchObject({ status: 200, text: portal_url });
  });

  test("happens automatically near the end, once a day until it works; a failure raises an alert", async () => {
    let open = false;
    using place = office(async () =>
      open ? new Response(await issue(400, { id: "lic-3" })) : new Response("no", { status: 503 }),
    );
    const { app } = server.server;
    await set("license_key", await issue(40, { renewal_url: place.renewal_url }));
    await later(2, () => renewLicenseIfDue(app));
    expect(place.asked).toHaveLength(0);
    await later(15, async () => {
      await Promise.all([renewLicenseIfDue(app), renewLicenseIfDue(app)]);
    });
    await later(15.5, () => renewLicenseIfDue(app));
    expect(place.asked).toHaveLength(1);
    const [alert] = (await expectOk(ask("GET", "/settings/critical_alerts?acknowledged=false"))).json();
    expect(alert.kind).toBe("license_renewal_failed");
    expect(alert.message).toContain("answered with status 503");
    open = true;
    await later(16.5, () => renewLicenseIfDue(app));
    expect(place.asked).toHaveLength(2);
    expect(await licenseId()).toBe("lic-3");
  });

  test("can be requested by super admins only", async () => {
    const { ask: userAsk } = await server.user("ann");
    for (const path of ["renew_license_key", "customer_portal"]) {
      expect((await userAsk("POST", `/settings/${path}`)).status).toBe(403);
    }
    expect((await userAsk("GET", "/settings/latest_key_renewal_attempt")).status).toBe(403);
  });
});
