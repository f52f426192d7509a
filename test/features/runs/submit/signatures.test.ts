/** Webhooks that accept signed requests only: the five schemes, over the exact bytes of the body. */
import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { variables } from "../../../../src/features/assets/variable-tables.ts";
import { type Ask, deploy, expectOk } from "../../../support/harness.ts";
import {
  ask,
  hex,
  hmac,
  KEY,
  nowInSeconds,
  SCHEMES,
  SECRET,
  send,
  server,
  setUpSignatures,
  variable,
} from "./signatures-setup.ts";

setUpSignatures();

const echo = "export const main = ({ ...all }: object) => all";

describe.each(Object.entries(SCHEMES))("%s", (name, { rule, sign, needs, timed }) => {
  const path = `u/admin/${name}`;
  const body = '{ "a": "ü" }';
  beforeAll(() => deploy(ask, "acme", path, echo, { signature: rule }));

  test("accepts signed requests", async () => {
    expect(await send(path, body, sign(body))).toEqual({ status: 200, text: '{"a":"ü"}' });
    expect(await send(path, "", sign(""))).toEqual({ status: 200, text: "{}" });
  });

  test("verifies the bytes, which need not be text", async () => {
    const bytes = new Uint8Array([0xef, 0xbb, 0xbf, 0x22, 0xff, 0x22]);
    expect((await send(path, bytes, sign(bytes))).status).toBe(200);
    const asText = new TextDecoder().decode(bytes);
    expect((await send(path, bytes, sign(asText))).status).toBe(401);
  });

  test("rejects another body and another secret, without revealing the right signature", async () => {
    const right = sign(`${body} `);
    for (const headers of [right, sign(body, { key: "another" })]) {
      const answer = await send(path, body, headers);
      expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("the signature in")]);
    }
    const digests = [hmac(SECRET, body), hmac(KEY, body)].map((each) => each.digest());
    const { text } = await send(path, body, right);
    for (const digest of digests) {
      expect(text).not.toContain(digest.toString("hex"));
      expect(text).not.toContain(digest.toString("base64"));
    }
  });

  test.each(needs)("rejects requests without the header %s", async (header) => {
    const { [header]: _, ...others } = sign(body);
    const answer = await send(path, body, others);
    expect([answer.status, answer.text]).toEqual([
      401,
      expect.stringMatching(new RegExp(`${header} is missing`, "i")),
    ]);
  });

  test("rejects an invalid header", async () => {
    const garbled = Object.fromEntries(Object.keys(sign(body)).map((header) => [header, "x, =,v1=zz"]));
    expect((await send(path, body, garbled)).status).toBe(401);
    const empty = Object.fromEntries(
      Object.entries(sign(body)).map(([header, value]) => [
        header,
        value.replace(/[0-9a-f]{64}|[^,]{44}$/g, ""),
      ]),
    );
    expect((await send(path, body, empty)).status).toBe(401);
  });

  if (!timed) return;
  test.each([-310, 310])("rejects requests signed %d s from now", async (off) => {
    const answer = await send(path, body, sign(body, { at: nowInSeconds() + off }));
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("more than 300 s off")]);
  });

  test("accepts requests within the tolerance, which can be configured", async () => {
    expect((await send(path, body, sign(body, { at: nowInSeconds() - 280 }))).status).toBe(200);
    const strict = `u/admin/${name}_strict`;
    await deploy(ask, "acme", strict, echo, { signature: { ...rule, tolerance_s: 60 } });
    expect((await send(strict, body, sign(body, { at: nowInSeconds() - 100 }))).status).toBe(401);
    expect((await send(strict, body, sign(body))).status).toBe(200);
  });
});

describe("hmac_sha256 accepts a digest", () => {
  const path = "u/admin/digest";
  const signature = { scheme: "hmac_sha256", secret: "u/admin/secret", header: "x-digest" };
  beforeAll(() => deploy(ask, "acme", path, echo, { signature }));

  test.each([
    ["in hexadecimal", hex(SECRET, "{}")],
    ["in capitals", hex(SECRET, "{}").toUpperCase()],
    ["with a prefix", `sha256=${hex(SECRET, "{}")}`],
    ["in base64 with a prefix", `sha256=${hmac(SECRET, "{}").digest("base64")}`],
  ])("%s", async (_, digest) => {
    expect((await send(path, "{}", { "x-digest": digest })).status).toBe(200);
  });
});

describe("a script that requires signed requests", () => {
  const { rule, sign } = SCHEMES.github!;
  const path = "u/admin/signed";
  let hash: string;
  beforeAll(async () => {
    hash = await deploy(ask, "acme", path, echo, { signature: rule });
  });
  const jobsOf = async () => (await ask("GET", `/w/acme/jobs/list?script_path_exact=${path}`)).json().length;

  test("shows it in its record and in lists", async () => {
    const stored = { scheme: "github", secret: "u/admin/secret" };
    expect((await ask("GET", `/w/acme/scripts/get/p/${path}`)).json().signature).toEqual(stored);
    const [listed] = (await ask("GET", `/w/acme/scripts/list?path_exact=${path}`)).json();
    expect(listed.signature).toEqual(stored);
  });

  test("requires it for every way to run the script, and starts no job otherwise", async () => {
    const before = await jobsOf();
    const ways = [`run/p/${path}`, `run_wait_result/p/${path}`, `run_and_stream/p/${path}`, `run/h/${hash}`];
    for (const way of ways) {
      expect([way, (await send("", "{}", {}, way)).status]).toEqual([way, 401]);
    }
    for (const form of ["run_wait_result", "run_and_stream"]) {
      const answer = await ask("GET", `/w/acme/jobs/${form}/p/${path}?payload=e30`);
      expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("send a POST")]);
    }
    expect(await jobsOf()).toBe(before);
    expect((await send("", "{}", sign("{}"), `run/h/${hash}`)).status).toBe(201);
    expect(await jobsOf()).toBe(before + 1);
  });

  test("requires a token as well, which needs no right to the secret", async () => {
    const answer = await send(path, "{}", { ...sign("{}"), authorization: "" });
    expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("a valid token is needed")]);
    const shared = "g/all/signed";
    await deploy(ask, "acme", shared, echo, { signature: rule });
    const ann = await server.member("acme", "ann", "operator");
    expect((await ann.ask("GET", "/w/acme/variables/get/u/admin/secret")).status).toBe(404);
    expect((await send(shared, "{}", { ...sign("{}"), authorization: `Bearer ${ann.token}` })).status).toBe(
      200,
    );
  });

  test("leaves no audit row for reading the secret", async () => {
    const reads = async () =>
      (await ask("GET", "/w/acme/audit/list?operation=variables.decrypt_secret")).json();
    const before = (await reads()).length;
    expect((await send(path, "{}", sign("{}"))).status).toBe(200);
    expect(await reads()).toHaveLength(before);
  });

  test("accepts CloudEvents and preprocessors like any other", async () => {
    const event = '{"specversion":"1.0","id":"1","source":"/","type":"t","data":{"a":1}}';
    const answer = await send(path, event, {
      ...sign(event),
      "content-type": "application/cloudevents+json",
    });
    expect(JSON.parse(answer.text)).toMatchObject({ a: 1, WEBHOOK__METADATA__: { id: "1" } });
    const content =
      "export const preprocessor = (event: any) => ({ raw: event.raw_string })\nexport const main = (raw: string) => raw";
    await deploy(ask, "acme", "u/admin/both", content, { signature: rule });
    expect(await send("u/admin/both", "{ }", sign("{ }"))).toEqual({ status: 200, text: '"{ }"' });
  });

  test("no longer requires it once a version without the rule is deployed", async () => {
    const open = "u/admin/opened";
    await deploy(ask, "acme", open, echo, { signature: rule });
    expect((await send(open, "{}", {})).status).toBe(401);
    await deploy(ask, "acme", open, `${echo} `);
    expect((await send(open, "{}", {})).status).toBe(200);
  });
});

describe("an unavailable secret is the operator's problem", () => {
  const change = (path: string, values: object) =>
    server.server.app.db.write((tx) => tx.update(variables).set(values).where(eq(variables.path, path)));

  test.each([
    ["is gone", (path: string) => expectOk(ask("DELETE", `/w/acme/variables/delete/${path}`))],
    ["has expired", (path: string) => change(path, { expires_at: new Date(0) })],
    ["is empty", (path: string) => change(path, { is_secret: false, value: "" })],
    ["is sealed with another key", (path: string) => change(path, { value: "v1:AAAA" })],
  ])("%s", async (what, spoil) => {
    const name = what.replaceAll(" ", "_");
    const secret = `u/admin/${name}`;
    await variable(secret, SECRET);
    await deploy(ask, "acme", `u/admin/with_${name}`, echo, { signature: { scheme: "github", secret } });
    await spoil(secret);
    const headers = { "x-hub-signature-256": `sha256=${hex("", "{}")}` };
    const answer = await send(`u/admin/with_${name}`, "{}", headers);
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining(`variable ${secret}`)]);
  });

  test("is not base64, where the scheme requires it", async () => {
    const { sign } = SCHEMES.standard_webhooks!;
    const signature = { scheme: "standard_webhooks", secret: "u/admin/secret" };
    await deploy(ask, "acme", "u/admin/no_base64", echo, { signature });
    const answer = await send("u/admin/no_base64", "{}", sign("{}"));
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining("whsec_")]);
  });
});

describe("an invalid rule is rejected when it is deployed", () => {
  const secret = "u/admin/secret";
  const rows: [what: string, signature: object, says: string][] = [
    ["an unknown scheme", { scheme: "paypal", secret }, "signature.scheme"],
    ["no secret", { scheme: "github" }, "signature.secret"],
    ["no such variable", { scheme: "github", secret: "u/admin/none" }, "there is no variable u/admin/none"],
    ["no header", { scheme: "hmac_sha256", secret }, "signature.header"],
    ["a header that is none", { scheme: "hmac_sha256", secret, header: "a b" }, "signature.header"],
    ["a header where there is one", { scheme: "github", secret, header: "x-a" }, "signature.header"],
    ["a tolerance of nothing", { scheme: "github", secret, tolerance_s: 60 }, "signature.tolerance_s"],
    ["no tolerance at all", { scheme: "stripe", secret, tolerance_s: 0 }, "signature.tolerance_s"],
  ];

  const create = (asSomebody: Ask, path: string, signature: object) =>
    asSomebody("POST", "/w/acme/scripts/create", { path, content: echo, language: "bun", signature });

  test.each(rows)("%s", async (_, signature, says) => {
    const answer = await create(ask, "u/admin/refused", signature);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  });

  test("a variable that its author may not read", async () => {
    const bob = await server.member("acme", "bob");
    const answer = await create(bob.ask, "u/bob/hook", { scheme: "github", secret });
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("no variable u/admin/secret that bob may read"),
    ]);
  });
});
