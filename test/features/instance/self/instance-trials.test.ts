/** Trying settings before they are saved: object storage, metadata of an identity provider, statistics. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { type Bucket, startBucket } from "../../../support/peers/bucket.ts";
import { CERTIFICATE } from "../../../support/peers/mail-server.ts";

let server: TestServer;
let ask: Ask;
let bucket: Bucket;

beforeAll(async () => {
  [server, bucket] = await Promise.all([startTestServer({ min_free_mb: 0 }), startBucket()]);
  ask = (await server.user("root", { super_admin: true })).ask;
});
afterAll(() => Promise.all([server.stop(), bucket.stop()]));

const set = (key: string, value: unknown) => expectOk(ask("POST", `/settings/global/${key}`, { value }));

describe("test_object_storage_config", () => {
  const trial = (config: unknown) => ask("POST", "/settings/test_object_storage_config", config);
  /** The bucket's address in the form of this setting. */
  const s3 = () => {
    const { bucket: name, region, endPoint, port, accessKey, secretKey } = bucket.resource;
    const endpoint = `http://${endPoint}${port === undefined ? "" : `:${port}`}`;
    const keys = { access_key: accessKey, secret_key: secretKey };
    return { type: "S3", bucket: name, region, endpoint, path_style: true, allow_http: true, ...keys };
  };
  const files = async (): Promise<string[]> => {
    const { createS3Store } = await import("../../../../src/features/assets/storage/stores/s3-store.ts");
    const { S3Resource } = await import("../../../../src/features/tenancy/workspaces/storage-records.ts");
    const store = createS3Store(S3Resource.parse(bucket.resource), { allows: () => true });
    return (await store.list({ prefix: "", marker: undefined, max_keys: 10 })).keys;
  };

  test("writes, reads and deletes an object, and leaves nothing", async () => {
    expect(await trial(s3())).toMatchObject({
      status: 200,
      text: "an object was written, read and deleted in bucket files",
    });
    expect((await trial(bucket.resource)).status).toBe(200);
    expect(await files()).toEqual([]);
    expect((await trial({ type: "FilesystemStorage" })).text).toContain("deleted in the data directory");
    expect(readdirSync(join(server.data_dir, "storage"))).toEqual([]);
  });

  test("reports the failed step and the reason, without the keys", async () => {
    const cases: [object, string][] = [
      [{ ...s3(), bucket: "nowhere" }, "writing an object failed: bucket nowhere"],
      [
        { ...s3(), access_key: "unknown", secret_key: "wrong-secret" },
        "writing an object failed: bucket files",
      ],
      [
        { ...s3(), endpoint: "http://127.0.0.1:1" },
        "writing an object failed: bucket files at http://127.0.0.1:1",
      ],
      [{ ...s3(), bucket: undefined, type: "S3" }, "body field `bucket`"],
      [{ ...s3(), access_key: undefined }, "body field `accessKey`"],
      [{ type: "Gopher" }, '"Gopher" is not supported; use one of S3, FilesystemStorage'],
      [{}, "is not supported"],
    ];
    for (const [config, text] of cases) {
      const answer = await trial(config);
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)]);
      expect(answer.text).not.toContain("wrong-secret");
    }
    expect((await trial([])).status).toBe(400);
  });

  test("uses the stored keys for masked ones", async () => {
    await set("object_store_cache_config", s3());
    const list = (await expectOk(ask("GET", "/settings/list_global"))).json();
    const shown = list.find((setting: any) => setting.name === "object_store_cache_config").value;
    expect(shown.secret_key).toBe("********");
    expect((await trial(shown)).status).toBe(200);
  });
});

describe("/saml/test_metadata", () => {
  const CERT = CERTIFICATE.replace(/-----.*-----/g, "").trim();
  /** Expired since 2021. */
  const OVER = `MIIBBTCBrAIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARvdmVyMB4XDTIwMDEw
MTAwMDAwMFoXDTIxMDIwMTAwMDAwMFowDzENMAsGA1UEAwwEb3ZlcjBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABI3QYVfPjfRBqCwm9MTDNqGN9FTKDHdsZ5Ne4OUs
SQFZz3vyI7oarzmrcT0j62qHwLBpjA8PG04KHDFIXzUIPJ8wCgYIKoZIzj0EAwID
SAAwRQIhAM6y9e0v2+NJL7M7P71BjsFqxaI8UOmrf4CfHnZePInGAiAsPmysL+ms
6KieOkqAtExBTRseVJr7cSwUwgCnb3tJ7A==`;
  const SSO = (binding = "HTTP-Redirect", url = "https://idp.example.org/sso?a=1&amp;b=2") =>
    `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:${binding}" Location="${url}"/>`;
  const KEY = (certificate = CERT, use = ' use="signing"') =>
    `<md:KeyDescriptor${use}><ds:KeyInfo><ds:X509Data><ds:X509Certificate>\n${certificate}\n</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
  const PROTOCOL = 'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"';
  const IDP = (inside = KEY() + SSO(), attributes = PROTOCOL) =>
    `<md:IDPSSODescriptor ${attributes}>${inside}</md:IDPSSODescriptor>`;
  const SPACES =
    'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';
  const ENTITY = (inside = IDP(), attributes = 'entityID="https://idp.example.org/a&amp;b"') =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<md:EntityDescriptor ${SPACES} ${attributes}>${inside}</md:EntityDescriptor>`;

  const trial = (text: string) => ask("POST", "/saml/test_metadata", JSON.stringify(text));

  test("describes valid metadata, with any prefix, and one provider of a federation", async () => {
    const said = [
      "identity provider https://idp.example.org/a&b",
      "single sign-on at https://idp.example.org/sso?a=1&b=2 (HTTP-Redirect)",
      "certificate of CN=localhost, until 2126-10-28T13:47:30.000Z",
    ].join("\n");
    const plain = ENTITY().replaceAll("md:", "").replace("xmlns:md=", "xmlns=");
    const other = ENTITY("<md:SPSSODescriptor/>", 'entityID="https://sp.example.org"').replace(
      /<\?.*\?>/,
      "",
    );
    const several = `<md:EntitiesDescriptor ${SPACES}>${other}${ENTITY().replace(/<\?.*\?>/, "")}</md:EntitiesDescriptor>`;
    const bom = `\ufeff${ENTITY()}`;
    for (const xml of [ENTITY(), plain, several, bom])
      expect(await trial(xml)).toMatchObject({ status: 200, text: said });
    const turned = await trial(ENTITY(IDP(KEY(OVER) + KEY() + SSO("SOAP") + SSO("HTTP-POST"))));
    expect(turned.text).toContain("until 2021-");
    expect(turned.text).toContain("(HTTP-POST)");
    expect(turned.text).not.toContain("SOAP");
    expect((await trial(ENTITY(IDP(KEY(CERT, "") + SSO())))).status).toBe(200);
  });

  test("is fetched if a URL is given", async () => {
    const place = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) =>
        url.endsWith("/good")
          ? new Response(ENTITY())
          : new Response("<html></html>", { status: url.endsWith("/page") ? 200 : 404 }),
    });
    const at = `http://127.0.0.1:${place.port}`;
    expect((await trial(`${at}/good`)).text).toContain("identity provider https://idp.example.org");
    expect((await trial(`${at}/page`)).text).toContain("its root element is html");
    expect((await trial(`${at}/none`)).text).toContain("answered with status 404");
    await place.stop(true);
    expect((await trial(`${at}/good`)).text).toContain("127.0.0.1 cannot be reached");
  });

  test("the named host may be on this machine, its redirect targets may not", async () => {
    const elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.2", fetch: () => new Response(ENTITY()) });
    const place = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) =>
        url.endsWith("/here")
          ? new Response(ENTITY())
          : Response.redirect(url.endsWith("/on") ? "/here" : `http://127.0.0.2:${elsewhere.port}/`),
    });
    const at = `http://127.0.0.1:${place.port}`;
    expect((await trial(`${at}/on`)).status).toBe(200);
    const refused = await trial(`${at}/away`);
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining("127.0.0.2 is an address of this machine or of a private network"),
    ]);
    expect((await trial(`http://127.0.0.2:${elsewhere.port}/`)).status).toBe(200);
    await place.stop(true);
    await elsewhere.stop(true);
  });

  test.each([
    ["nothing", " ", "it is empty"],
    ["no XML", "hello", "it is not XML"],
    [
      "an element that is not closed",
      ENTITY().replace("</md:IDPSSODescriptor>", ""),
      "it is not XML: Expected closing tag 'md:IDPSSODescriptor'",
    ],
    ["a DOCTYPE", `<!DOCTYPE a [<!ENTITY b "c">]>${ENTITY()}`, "it has a DOCTYPE"],
    ["another root", "<html/>", "its root element is html, not EntityDescriptor"],
    [
      "another namespace",
      ENTITY().replace("SAML:2.0:metadata", "SAML:1.1:metadata"),
      "md:EntityDescriptor is not of the namespace",
    ],
    ["no entityID", ENTITY(IDP(), ""), "EntityDescriptor has no entityID"],
    ["a service provider", ENTITY("<md:SPSSODescriptor/>"), "it describes a service provider"],
    ["no descriptor", ENTITY(""), "EntityDescriptor has no IDPSSODescriptor"],
    [
      "SAML 1.1",
      ENTITY(IDP(KEY() + SSO(), 'protocolSupportEnumeration="urn:oasis:names:tc:SAML:1.1:protocol"')),
      "does not support urn:oasis:names:tc:SAML:2.0:protocol",
    ],
    ["no sign-on", ENTITY(IDP(KEY())), "IDPSSODescriptor has no SingleSignOnService"],
    [
      "bindings no browser has",
      ENTITY(IDP(KEY() + SSO("SOAP"))),
      "no SingleSignOnService has a Binding that browsers can use",
    ],
    [
      "a Location that is none",
      ENTITY(IDP(KEY() + SSO("HTTP-POST", "javascript:alert(1)"))),
      "Location of SingleSignOnService (HTTP-POST) is not a URL",
    ],
    ["no key", ENTITY(IDP(SSO())), "IDPSSODescriptor has no KeyDescriptor for signing"],
    [
      "a key for encryption alone",
      ENTITY(IDP(KEY(CERT, ' use="encryption"') + SSO())),
      "no KeyDescriptor for signing",
    ],
    [
      "no certificate",
      ENTITY(IDP(KEY().replace(/<ds:X509Certificate>[\s\S]*<\/ds:X509Certificate>/, "") + SSO())),
      "KeyDescriptor has no X509Certificate",
    ],
    [
      "a certificate that is none",
      ENTITY(IDP(KEY("c29tZXRoaW5n") + SSO())),
      "X509Certificate holds no certificate in base64",
    ],
    [
      "a certificate that is over",
      ENTITY(IDP(KEY(OVER) + SSO())),
      "the certificate of CN=over was valid until 2021-",
    ],
    [
      "metadata that is over",
      ENTITY(IDP(), 'entityID="a" validUntil="2020-01-01T00:00:00Z"'),
      "EntityDescriptor was valid until 2020-01-01T00:00:00.000Z",
    ],
    [
      "an end that is none",
      ENTITY(IDP(), 'entityID="a" validUntil="soon"'),
      'validUntil of EntityDescriptor is not a time: "soon"',
    ],
    [
      "a federation",
      `<md:EntitiesDescriptor ${SPACES}>${`${ENTITY()}${ENTITY()}`.replace(/<\?.*?\?>/g, "")}</md:EntitiesDescriptor>`,
      "EntitiesDescriptor holds 2 identity providers",
    ],
    ["an abyss", `<a>${"<b>".repeat(50_000)}${"</b>".repeat(50_000)}</a>`, ""],
  ])("reports invalid metadata: %s", async (_, xml, text) => {
    const answer = await trial(xml);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)]);
    const kept = await ask("POST", "/settings/global/saml_metadata", { value: xml });
    expect([kept.status, kept.text]).toEqual([400, expect.stringContaining(text.slice(0, 9))]);
  });

  test("requires a text, from a super admin", async () => {
    expect((await ask("POST", "/saml/test_metadata", {})).text).toContain("must be a JSON string");
    const { ask: userAsk } = await server.user("ann");
    expect((await userAsk("POST", "/saml/test_metadata", '"x"')).status).toBe(403);
    await set("saml_metadata", ENTITY());
    await set("saml_metadata", "https://idp.example.org/metadata");
  });
});

describe("send_stats", () => {
  test("sends nothing unless enabled, and shows exactly what it sends", async () => {
    const taken: string[] = [];
    let status = 200;
    const place = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        taken.push(await request.text());
        return new Response("", { status });
      },
    });
    const stats_url = `http://127.0.0.1:${place.port}/stats`;
    const send = () => ask("POST", "/settings/send_stats");
    await set("stats_url", stats_url);
    const off = await expectOk(send());
    expect(off.text).toStartWith("nothing was sent: statistics are switched off");
    expect(taken).toEqual([]);
    await set("disable_stats", false);
    const on = await expectOk(send());
    expect(on.text).toBe(`sent to ${stats_url}:\n${taken[0]}`);
    expect(off.text).toEndWith(taken[0]!);
    expect(Object.keys(JSON.parse(taken[0]!)).sort()).toEqual([
      "database",
      "flows",
      "instance",
      "interface_version",
      "license",
      "platform",
      "scripts",
      "users",
      "version",
      "workspaces",
    ]);
    expect(taken[0]).not.toContain("example.org");
    status = 500;
    expect((await send()).text).toContain("did not accept them: it answered with status 500");
    await set("stats_url", null);
    expect((await expectOk(send())).text).toStartWith("nothing was sent: there is nobody to send to");
    expect(taken).toHaveLength(2);
    await place.stop(true);
    const { ask: userAsk } = await server.user("bob");
    expect((await userAsk("POST", "/settings/send_stats")).status).toBe(403);
  });
});
