/**
 * Every address that the server connects to is resolved and checked, however it is written and whoever
 * configures it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { toNetwork } from "../../../src/lib/network.ts";
import { dnsResolver } from "../../../src/platform/outgoing/connect.ts";
import { sendRequest } from "../../../src/platform/outgoing/request.ts";
import { parseTargets } from "../../../src/platform/outgoing/targets.ts";
import { openWebsocket } from "../../../src/platform/outgoing/websocket.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { type Bucket, startBucket } from "../../support/peers/bucket.ts";

let server: TestServer;
let bucket: Bucket;
let ask: Ask;
/** Accepts connections to this machine that must not happen. */
let canary: ReturnType<typeof Bun.serve>;
let touched: string[] = [];
const resolve = dnsResolver.resolve;

beforeAll(async () => {
  const fetch = (request: Request) => {
    touched.push(request.headers.get("host") ?? "");
    return new Response("canary", { headers: { "last-modified": new Date(0).toUTCString() } });
  };
  canary = Bun.serve({ hostname: "::", port: 0, fetch });
  [server, bucket] = await Promise.all([startTestServer({ allowed_targets: "127.0.0.9" }), startBucket()]);
  ({ ask } = await server.workspace());
});
afterEach(() => {
  dnsResolver.resolve = resolve;
  touched = [];
});
afterAll(async () => {
  await Promise.all([server.stop(), bucket.stop(), canary.stop(true)]);
});

const SPELLINGS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "127.255.255.254",
  "2130706433",
  "017700000001",
  "0177.0.0.1",
  "0x7f000001",
  "0x7f.0.0.1",
  "0x7f.1",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "127。0。0。1",
  "①②⑦.0.0.1",
  "127.0.0.1.",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "anything.localhost",
  "0.0.0.0",
  "0",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[fe80::1]",
  "[fe80::1%25lo]",
  "[fec0::1]",
  "[fd00:ec2::254]",
  "169.254.169.254",
  "user@127.0.0.1",
  "127.0.0.1:1#@example.org",
  "127.0.0.1?",
];

let named = 0;
async function through(value: object): Promise<{ status: number; text: string }> {
  const path = `u/admin/bucket_${named++}`;
  const resource = { ...bucket.resource, ...value };
  await expectOk(ask("POST", "/w/acme/resources/create", { path, value: resource, resource_type: "s3" }));
  return ask("GET", `/w/acme/job_helpers/download_s3_file?file_key=x&s3_resource_path=${path}`);
}

describe.each([true, false])("a bucket on this machine, its name in the path: %p", (pathStyle) => {
  test.each(SPELLINGS)("%s is rejected", async (host) => {
    const endPoint = `http://${host}${/[?#]/.test(host) ? "" : `:${canary.port}`}`;
    const answer = await through({ endPoint, pathStyle });
    // A name that does not exist is answered with 503.
    expect([endPoint, answer.status === 503 ? answer.text : answer.status]).toEqual([
      endPoint,
      answer.status === 503 ? expect.stringContaining("there is no such host") : 400,
    ]);
    expect(answer.text).not.toContain("canary");
    expect(touched).toEqual([]);
  });
});

test.each(["127.0.0.1:1/", "localhost/#", "a@127.0.0.1", "../..", ""])("a bucket called %j", async (name) => {
  const answer = await through({ bucket: name, endPoint: `http://x.test:${canary.port}`, pathStyle: false });
  expect(answer.status).toBe(400);
  expect(touched).toEqual([]);
});

test("a name is resolved once per connection, and the checked address is connected to", async () => {
  const { port } = new URL(`http://${bucket.resource.endPoint}`);
  const asked: string[] = [];
  // The second response is an address that must not be reached.
  dnsResolver.resolve = async (host) => {
    asked.push(host);
    return asked.length === 1 ? ["127.0.0.9"] : ["127.0.0.1"];
  };
  const answer = await through({ endPoint: `rebinding.test:${canary.port}` });
  expect(answer).toMatchObject({
    status: 400,
    text: expect.stringContaining("rebinding.test is an address"),
  });
  // The HEAD went to the first address with the given host name, the GET was rejected.
  expect([asked, touched]).toEqual([["rebinding.test", "rebinding.test"], [`rebinding.test:${canary.port}`]]);
  dnsResolver.resolve = async () => ["127.0.0.1"];
  expect((await through({ endPoint: `later.test:${port}` })).status).toBe(400);
});

test("only the allowed addresses of a name are connected to", async () => {
  dnsResolver.resolve = async () => ["127.0.0.1", "::1", "10.0.0.1"];
  expect((await through({ endPoint: `many.test:${canary.port}` })).status).toBe(400);
  expect(touched).toEqual([]);
});

test("requests and WebSockets go to the checked address, even if the name changes later", async () => {
  const targets = parseTargets("127.0.0.9");
  const later = () => {
    let asked = 0;
    dnsResolver.resolve = async () => (++asked === 1 ? ["127.0.0.9"] : ["127.0.0.1"]);
  };
  const url = `http://rebinding.test:${canary.port}/`;
  const request = {
    url,
    method: "GET",
    targets,
    timeout_ms: 5_000,
    max_bytes: 100,
    max_redirects: 0,
  } as const;
  later();
  expect((await sendRequest(request)).body.toString()).toBe("canary");
  await expect(sendRequest(request)).rejects.toThrow("rebinding.test is an address of this machine");
  expect(touched).toEqual([`rebinding.test:${canary.port}`]);
  const socket = {
    url: url.replace("http", "ws"),
    targets,
    timeout_ms: 5_000,
    max_message_bytes: 100,
    ping_ms: 60_000,
    onMessage() {},
  };
  later();
  await expect(openWebsocket(socket)).rejects.toThrow("opened no WebSocket");
  await expect(openWebsocket(socket)).rejects.toThrow("rebinding.test is an address of this machine");
  expect(touched).toHaveLength(2);
});

test("a redirect by a bucket is not followed", async () => {
  const leading = Bun.serve({
    hostname: "127.0.0.9",
    port: 0,
    fetch: () => Response.redirect(`http://127.0.0.1:${canary.port}/`, 307),
  });
  expect((await through({ endPoint: `127.0.0.9:${leading.port}` })).status).toBe(400);
  expect(touched).toEqual([]);
  await leading.stop(true);
});

test.each([true, false])(
  "an allowed bucket is reached by name, signed for that name: %p",
  async (pathStyle) => {
    await using open = await startTestServer({ allowed_targets: "*.amazonaws.com" });
    const { ask: admin } = await open.workspace();
    const { port } = new URL(`http://${bucket.resource.endPoint}`);
    const value = { ...bucket.resource, endPoint: `s3.amazonaws.com:${port}`, pathStyle };
    await expectOk(
      admin("POST", "/w/acme/resources/create", { path: "u/admin/b", value, resource_type: "s3" }),
    );
    dnsResolver.resolve = async () => ["127.0.0.1"];
    const at = "file_key=dir/a%2Bb%20%28c%29.txt&s3_resource_path=u/admin/b";
    await expectOk(admin("POST", `/w/acme/job_helpers/upload_s3_file?${at}`, "kept"));
    expect((await expectOk(admin("GET", `/w/acme/job_helpers/download_s3_file?${at}`))).text).toBe("kept");
  },
);

test.each([
  ["10.0.0.0/8", "::ffff:10.1.2.3", true],
  ["10.0.0.0/8", "11.1.2.3", true],
  ["10.0.0.0/8", "127.0.0.1", false],
  ["fd00::/8", "fd12::1", true],
  ["::1", "0:0:0:0:0:0:0:1", true],
  ["::1", "127.0.0.1", false],
  ["", "8.8.8.8", true],
  ["", "2606:4700::1111", true],
  ["", "::2", false],
  ["", "4000::1", false],
  ["", "100.64.0.1", false],
  ["", "255.255.255.255", false],
  ["", "no address", false],
])("%j allows %s: %p", (list, address, isAllowed) => {
  expect(parseTargets(list).allows("host.test", address)).toBe(isAllowed);
});

test.each(["10.0.0.0/33", "::1/129", "10.0.0.0/", "a b", "10.0.0.0/x"])(
  "the setting %j is rejected",
  (list) => {
    expect(() => parseTargets(list)).toThrow(/range of addresses|neither/);
  },
);

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:c000:207", "192.0.2.7"],
  ["2001:DB8:1:2:3::4", "2001:db8:1:2"],
  ["2001:db8::", "2001:db8:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["unix", "unix"],
])("%s counts as %s", (address, network) => expect(toNetwork(address)).toBe(network));
