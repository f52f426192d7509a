/** A server with secrets that sign requests, and each way to sign one. */
import { afterAll, beforeAll } from "bun:test";
import { createHmac } from "node:crypto";
import type { SignatureSettings } from "../../../../src/features/code/scripts/signature-rule.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

export let server: TestServer;
export let ask: Ask;
let token: string;

export const SECRET = "it's a secret to everybody";
export const KEY = Buffer.from("a key of some thirty-two bytes..");

export const nowInSeconds = () => Math.floor(Date.now() / 1000);

export const variable = (path: string, value: string, more: object = {}) =>
  expectOk(
    ask("POST", "/w/acme/variables/create", { path, value, is_secret: true, description: "", ...more }),
  );

export const hmac = (key: string | Uint8Array, ...parts: (string | Uint8Array)[]) => {
  const made = createHmac("sha256", key);
  for (const part of parts) made.update(part);
  return made;
};
export const hex = (...parts: Parameters<typeof hmac>) => hmac(...parts).digest("hex");

type Body = string | Uint8Array;
type Headers = Record<string, string>;

export async function send(path: string, body: Body, headers: Headers, form = "run_wait_result/p") {
  const response = await fetch(`${server.url}/api/w/acme/jobs/${form}/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
  return { status: response.status, text: await response.text() };
}

interface Scheme {
  rule: SignatureSettings;
  /** The headers of an honest sender, unless given otherwise. */
  sign: (body: Body, options?: { key?: string; at?: number }) => Headers;
  /** Required headers. */
  needs: string[];
  timed?: true;
}

export const SCHEMES: Record<string, Scheme> = {
  github: {
    rule: { scheme: "github", secret: "u/admin/secret" },
    sign: (body, { key = SECRET } = {}) => ({ "x-hub-signature-256": `sha256=${hex(key, body)}` }),
    needs: ["x-hub-signature-256"],
  },
  stripe: {
    rule: { scheme: "stripe", secret: "u/admin/secret" },
    sign: (body, { key = SECRET, at = nowInSeconds() } = {}) => ({
      // During rotation, the old secret's signature may accompany the new one's; v0 is for tests.
      "stripe-signature": `t=${at},v1=${hex("old", `${at}.`, body)},v1=${hex(key, `${at}.`, body)},v0=00`,
    }),
    needs: ["stripe-signature"],
    timed: true,
  },
  slack: {
    rule: { scheme: "slack", secret: "u/admin/secret" },
    sign: (body, { key = SECRET, at = nowInSeconds() } = {}) => ({
      "x-slack-request-timestamp": String(at),
      "x-slack-signature": `v0=${hex(key, `v0:${at}:`, body)}`,
    }),
    needs: ["x-slack-request-timestamp", "x-slack-signature"],
    timed: true,
  },
  standard_webhooks: {
    rule: { scheme: "standard_webhooks", secret: "u/admin/standard" },
    sign: (body, { key, at = nowInSeconds() } = {}) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(at),
      "webhook-signature": `v1,${hmac("old", body).digest("base64")} v1a,AAAA v1,${hmac(key ?? KEY, `msg_1.${at}.`, body).digest("base64")}`,
    }),
    needs: ["webhook-id", "webhook-timestamp", "webhook-signature"],
    timed: true,
  },
  hmac_sha256: {
    rule: { scheme: "hmac_sha256", secret: "u/admin/secret", header: "X-Shop-Hmac" },
    sign: (body, { key = SECRET } = {}) => ({ "x-shop-hmac": hmac(key, body).digest("base64") }),
    needs: ["x-shop-hmac"],
  },
};

/** Starts a server before the tests of a file, and stops it after them. */
export function setUpSignatures(): void {
  beforeAll(async () => {
    server = await startTestServer();
    ({ ask, token } = await server.workspace());
    await variable("u/admin/secret", SECRET);
    await variable("u/admin/standard", `whsec_${KEY.toString("base64")}`);
  });
  afterAll(() => server.stop());
}
