/** The keys that sign identity tokens: created, rotated, published and kept. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeProtectedHeader } from "jose";
import { oidcKeys } from "../../../../src/features/instance/oidc/tables.ts";
import { createDatabase, deploy, expectOk, startTestServer } from "../../../support/harness.ts";
import { DAY_MS, HOUR_MS, idToken, license, SCRIPT, server, setUpIdentity, verify } from "./oidc-setup.ts";

setUpIdentity();

describe("keys", () => {
  const kidOf = (token: string) => decodeProtectedHeader(token).kid!;
  const shown = async (of = server) =>
    ((await (await fetch(`${of.url}/api/oidc/jwks`)).json()) as any).keys.map(({ kid }: any) => kid);

  test("are rotated automatically, each published before it signs and after", async () => {
    await using own = await startTestServer();
    const running = own.server.app as { clock: () => Date };
    const at = (ms: number) => {
      running.clock = () => new Date(Date.now() + ms);
    };
    const { ask: owner } = await own.workspace();
    await license(own);
    await deploy(owner, "acme", "u/admin/identity", SCRIPT);
    const signs = async () => kidOf((await idToken({}, owner)).text);
    const first = await signs();
    expect(await shown(own)).toEqual([first]);

    at(29 * DAY_MS);
    expect(await signs()).toBe(first);
    expect(await shown(own)).toEqual([first]);

    at(30 * DAY_MS + HOUR_MS);
    const last = (await idToken({}, owner)).text;
    expect(kidOf(last)).toBe(first);
    const [, second] = await shown(own);
    expect(await shown(own)).toEqual([first, second]);

    at(30 * DAY_MS + 3 * HOUR_MS + 60_000);
    expect(await signs()).toBe(second);
    expect(await shown(own)).toEqual([first, second]);
    await verify(last, { currentDate: running.clock(), clockTolerance: 3 * HOUR_MS }, own);

    at(32 * DAY_MS);
    expect(await signs()).toBe(second);
    expect(await shown(own)).toEqual([second]);
    await expect(
      verify(last, { currentDate: running.clock(), clockTolerance: 5 * DAY_MS }, own),
    ).rejects.toThrow("no applicable key");
  }, 60_000);

  test("may use another algorithm, which signs once its key was published; earlier tokens stay valid", async () => {
    await using own = await startTestServer();
    const running = own.server.app as { clock: () => Date };
    const at = (ms: number) => {
      running.clock = () => new Date(Date.now() + ms);
    };
    const { ask: owner } = await own.workspace();
    await license(own);
    await deploy(owner, "acme", "u/admin/identity", SCRIPT);
    const algorithm = (value: string | null) =>
      expectOk(own.operator("POST", "/settings/global/oidc_token_algorithm", { value }));
    const check = (token: string) =>
      verify(token, { currentDate: running.clock(), clockTolerance: 3 * HOUR_MS }, own);
    const alg = async () => {
      const { text } = await idToken({}, owner);
      await check(text);
      return decodeProtectedHeader(text).alg;
    };
    const { text: before } = await idToken({}, owner);
    await algorithm("EdDSA");
    at(2 * 60_000);
    expect(await alg()).toBe("RS256");
    at(3 * HOUR_MS);
    expect(await alg()).toBe("EdDSA");
    await check(before);
    const { keys } = (await (await fetch(`${own.url}/api/oidc/jwks`)).json()) as any;
    expect(keys.map(({ kty, crv, alg }: any) => [kty, crv, alg])).toEqual([
      ["RSA", undefined, "RS256"],
      ["OKP", "Ed25519", "EdDSA"],
    ]);
    expect(keys.some((key: object) => "d" in key)).toBe(false);
    await algorithm(null);
    expect(await alg()).toBe("RS256");
    await algorithm("EdDSA");
    at(31 * DAY_MS + 12 * HOUR_MS);
    expect(await alg()).toBe("EdDSA");
    const left = (await (await fetch(`${own.url}/api/oidc/jwks`)).json()) as any;
    expect(left.keys.every(({ alg }: any) => alg === "EdDSA")).toBe(true);
  }, 60_000);

  test("are the same after a restart; with another instance key there are new ones", async () => {
    const data_dir = mkdtempSync(join(tmpdir(), "svc-test-"));
    const database = process.env.DATABASE_URL
      ? await createDatabase(process.env.DATABASE_URL, "migrated")
      : undefined;
    const options = { data_dir, database_url: database?.url };
    const kids: string[][] = [];
    for (const secret_key of ["one", "one", "another"]) {
      const each = await startTestServer({ ...options, secret_key });
      kids.push(await shown(each));
      await each.stop();
    }
    expect(kids[1]).toEqual(kids[0]!);
    expect(kids[2]).toHaveLength(1);
    expect(kids[2]).not.toEqual(kids[0]!);
    await database?.drop();
    rmSync(data_dir, { recursive: true, force: true });
  }, 60_000);

  test("are created once by many concurrent requests", async () => {
    await using own = await startTestServer();
    const asked = await Promise.all(Array.from({ length: 10 }, () => shown(own)));
    expect(new Set(asked.flat()).size).toBe(1);
    expect(await own.server.app.db.read.select().from(oidcKeys)).toHaveLength(1);
  });
});
