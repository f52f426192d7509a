/** Identity tokens of jobs: their claims, and that standard libraries can verify them. */
import { describe, expect, test } from "bun:test";
import type { JWTPayload } from "jose";
import { deploy, expectOk, startTestServer, until } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import { AUDIENCE, ask, idToken, SCRIPT, server, setUpIdentity, verify } from "./oidc-setup.ts";

setUpIdentity();

describe("an identity token", () => {
  test("identifies the job, and is verified by standard libraries", async () => {
    const { status, text, job } = await idToken();
    expect([status, text.split(".").length]).toEqual([200, 3]);
    const { payload } = await verify(text);
    expect(payload).toEqual({
      iss: `${server.url}/api/oidc/`,
      aud: AUDIENCE,
      sub: "admin_acme@example.org::u/admin/identity::::acme",
      iat: expect.any(Number),
      nbf: payload.iat!,
      exp: payload.iat! + 3_600,
      jti: expect.any(String),
      email: "admin_acme@example.org",
      username: "admin",
      groups: ["all"],
      instance_groups: [],
      workspace: "acme",
      job_id: job,
      root_job_id: job,
      path: "u/admin/identity",
      flow_path: "",
      job_kind: "script",
      permissioned_as: "u/admin",
    } satisfies JWTPayload);
    const again = await verify((await idToken()).text);
    expect(again.payload.jti).not.toBe(payload.jti);
  });

  test("of a flow's step contains the flow as well", async () => {
    const step = {
      id: "a",
      value: {
        type: "script",
        path: "u/admin/identity",
        input_transforms: { audience: { type: "static", value: AUDIENCE } },
      },
    };
    const flow = { path: "u/admin/asks", summary: "", value: { modules: [step] } };
    await expectOk(ask("POST", "/w/acme/flows/create", flow));
    const ran = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/f/u/admin/asks", {}));
    const { payload } = await verify(ran.json().text);
    expect(payload).toMatchObject({
      sub: "admin_acme@example.org::u/admin/identity::u/admin/asks::acme",
      path: "u/admin/identity",
      flow_path: "u/admin/asks",
    });
    expect(payload.root_job_id).not.toBe(payload.job_id);
  });

  test("has no claims that the job's caller can choose", async () => {
    const { ask: dev } = await server.member("acme", "selfmade");
    await expectOk(dev("POST", "/w/acme/groups/create", { name: "deployers" }));
    await expectOk(server.operator("POST", "/groups/create", { name: "staff" }));
    await expectOk(server.operator("POST", "/groups/adduser/staff", { email: "selfmade@example.org" }));
    const preview = {
      path: "u/admin/identity",
      content: SCRIPT,
      language: "bun",
      args: { audience: AUDIENCE },
    };
    const other = crypto.randomUUID();
    const ran = await expectOk(dev("POST", `/w/acme/jobs/run/preview?root_job=${other}`, preview));
    const done = await until(async () => {
      const found = (await dev("GET", `/w/acme/jobs_u/completed/get_result_maybe/${ran.text}`)).json();
      return found.completed ? found.result : undefined;
    }, "the preview");
    const { payload } = await verify(done.text);
    expect(payload).toMatchObject({
      sub: "selfmade@example.org::::::acme",
      path: "",
      flow_path: "",
      job_kind: "preview",
      root_job_id: ran.text,
      groups: ["all", "deployers"],
      instance_groups: ["staff"],
    });
  });

  test("identifies the user the job runs as", async () => {
    const { ask: dev } = await server.member("acme", "dev");
    await deploy(dev, "acme", "u/dev/own", SCRIPT);
    const path = "/w/acme/jobs/run_wait_result/p/u/dev/own";
    const { text } = (await expectOk(dev("POST", path, { audience: AUDIENCE }))).json();
    expect((await verify(text)).payload).toMatchObject({
      sub: "dev@example.org::u/dev/own::::acme",
      permissioned_as: "u/dev",
    });
  });

  test("is valid for its audience and lifetime only", async () => {
    const other = (await idToken({ audience: "https://api.example.org/x y" })).text;
    expect((await verify(other, { audience: "https://api.example.org/x y" })).payload.aud).toBe(
      "https://api.example.org/x y",
    );
    await expect(verify(other)).rejects.toThrow("aud");
    const { text } = await idToken();
    const [head, , signature] = text.split(".");
    const body = Buffer.from(JSON.stringify({ aud: AUDIENCE })).toString("base64url");
    await expect(verify(`${head}.${body}.${signature}`)).rejects.toThrow();
    await expect(verify(text, { currentDate: new Date(Date.now() + 3_700_000) })).rejects.toThrow("exp");
  });

  test("is valid as long as the setting says, or less", async () => {
    const lifetime = async (query = "") => {
      const { exp, iat } = (await verify((await idToken({ query })).text)).payload;
      return exp! - iat!;
    };
    expect(await lifetime("?expires_in=60")).toBe(60);
    const set = (value: unknown) =>
      server.operator("POST", "/settings/global/oidc_token_lifetime_secs", { value });
    await expectOk(set(600));
    expect(await lifetime()).toBe(600);
    for (const wrong of [601, 0, -5]) {
      const { status, text } = await idToken({ query: `?expires_in=${wrong}` });
      expect([status, text]).toEqual([400, expect.stringContaining("must be 1 to 600 seconds")]);
    }
    expect((await idToken({ query: "?expires_in=long" })).status).toBe(400);
    for (const wrong of [59, 86_401, "1h"]) expect((await set(wrong)).status).toBe(400);
    expect(await lifetime()).toBe(600);
    await expectOk(set(null));
  });

  test("is rejected without a job, an audience or a license", async () => {
    const path = `/w/acme/oidc/token/${AUDIENCE}`;
    const person = await ask("POST", path);
    expect([person.status, person.text]).toEqual([403, expect.stringContaining("which job asks")]);
    expect((await server.as(undefined)("POST", path)).status).toBe(401);
    expect((await idToken({ audience: "x".repeat(501) })).status).toBe(400);
    expect((await idToken({ audience: " " })).status).toBe(400);
    await using free = await startTestServer();
    const { ask: owner } = await free.workspace();
    await deploy(owner, "acme", "u/admin/identity", SCRIPT);
    const { status, text } = await idToken({}, owner);
    expect([status, text]).toEqual([403, expect.stringContaining("Enterprise Edition")]);
  });

  test("leaves an audit row, and is stored nowhere; nor is the key", async () => {
    const { text, job } = await idToken();
    const rows = (await expectOk(ask("GET", "/w/acme/audit/list?operation=oidc.token"))).json();
    expect(rows[0]).toMatchObject({ resource: AUDIENCE, parameters: { job, path: "u/admin/identity" } });
    const stored = await readStored(server);
    expect(stored).not.toContain("PRIVATE KEY");
    expect(rows.map((row: object) => JSON.stringify(row)).join()).not.toContain(text.split(".")[2]!);
  });
});

describe("the issuer", () => {
  test("is described at its own URL and at the root, for anybody, from any origin", async () => {
    const at = (path: string) => fetch(`${server.url}${path}`);
    for (const path of ["/.well-known/openid-configuration", "/api/oidc/.well-known/openid-configuration"]) {
      const answer = await at(path);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(await answer.json()).toMatchObject({
        issuer: `${server.url}/api/oidc/`,
        jwks_uri: `${server.url}/api/oidc/jwks`,
        id_token_signing_alg_values_supported: ["RS256"],
        subject_types_supported: ["public"],
      });
    }
  });

  test("shows public keys only", async () => {
    const answer = await fetch(`${server.url}/api/oidc/jwks`);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=3600");
    const { keys } = (await answer.json()) as { keys: object[] };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(["alg", "e", "kid", "kty", "n", "use"]);
    }
  });
});
