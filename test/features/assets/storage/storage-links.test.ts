/** Signed links to stored files: who can read what, and for how long. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let ahead_ms = 0;

const w = "/w/acme";
const FILES = { type: "FilesystemStorage", secondary_storage: { other: { type: "FilesystemStorage" } } };

beforeAll(async () => {
  server = await startTestServer();
  Object.assign(server.server.app, { clock: () => new Date(Date.now() + ahead_ms) });
  ({ ask } = await server.workspace());
  await expectOk(
    ask("POST", `${w}/workspaces/edit_large_file_storage_config`, { large_file_storage: FILES }),
  );
  for (const [key, storage] of [
    ["in/a b.txt", ""],
    ["in/c.txt", ""],
    ["in/c.txt", "other"],
  ]) {
    const query = new URLSearchParams({ file_key: key!, storage: storage! });
    await expectOk(ask("POST", `${w}/job_helpers/upload_s3_file?${query}`, `${storage}:${key}`));
  }
});
afterAll(() => server.stop());
afterEach(() => {
  ahead_ms = 0;
});

const sign = async (s3_objects: object[], more: object = {}, by = ask) =>
  (await expectOk(by("POST", `${w}/apps/sign_s3_objects`, { s3_objects, ...more }))).json();
const linkOf = ({ s3, storage = "_default_", presigned }: Record<string, string>) =>
  `${w}/s3_proxy/${storage}/${s3}?${presigned}`;
const follow = (link: string, headers = {}) => server.as(undefined)("GET", link, undefined, headers);

test("a link serves its file to anybody, whole or in part", async () => {
  const dev = await server.member("acme", "dev");
  const op = await server.member("acme", "op", "operator");
  const objects = [
    { s3: "in/a b.txt", filename: "a.txt" },
    { s3: "in/c.txt", storage: "other" },
  ];
  const signed = await sign(objects, {}, dev.ask);
  const refused = await op.ask("POST", `${w}/apps/sign_s3_objects`, { s3_objects: objects });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("operators do not sign")]);
  const presigned = expect.stringMatching(/^exp=\d+&sig=[0-9a-f]{64}$/);
  expect(signed).toEqual(objects.map((each) => ({ ...each, presigned })));
  const read = await Promise.all(signed.map((each: never) => follow(linkOf(each))));
  expect(read.map(({ status, text }) => [status, text])).toEqual([
    [200, ":in/a b.txt"],
    [200, "other:in/c.txt"],
  ]);
  const part = await follow(linkOf(signed[0]), { range: "bytes=1-2" });
  expect([part.status, part.text]).toEqual([206, "in"]);
  const [row] = (await ask("GET", `${w}/audit/list?operation=job_helpers.sign_s3_objects`)).json();
  expect(row).toMatchObject({ username: "dev", resource: "in/a b.txt, in/c.txt" });
});

test("it serves nothing else", async () => {
  const [signed] = await sign([{ s3: "in/c.txt" }]);
  const right = linkOf(signed);
  expect((await follow(right)).status).toBe(200);
  const wrong = [
    right.replace("c.txt", "a b.txt"),
    right.replace("_default_", "other"),
    right.replace("/acme/", "/nowhere/"),
    right.replace(/exp=(\d+)/, (_, at) => `exp=${Number(at) + 1}`),
    right.replace(/.$/, (end) => (end === "0" ? "1" : "0")),
    right.replace(/sig=.*/, "sig=no"),
  ];
  for (const link of wrong) expect([link, (await follow(link)).status]).toEqual([link, 401]);
  expect((await follow(right.replace(/\?.*/, ""))).status).toBe(400);
});

test.each([
  [undefined, 43_200],
  [3600, 3600],
  [1, 60],
  [10_000_000, 604_800],
])("with a lifetime of %p, it expires after %d seconds", async (expiry_secs, lasts) => {
  const [signed] = await sign([{ s3: "in/c.txt" }], { expiry_secs });
  ahead_ms = (lasts - 5) * 1000;
  expect((await follow(linkOf(signed))).status).toBe(200);
  ahead_ms = (lasts + 1) * 1000;
  const ended = await follow(linkOf(signed));
  expect([ended.status, ended.text]).toEqual([401, expect.stringContaining("the link has expired")]);
});

test("is created by members, also for missing files, and expires when the workspace's key is rotated", async () => {
  const stranger = await server.user("stranger");
  const by = (s3_objects: object[], as: Ask) => as("POST", `${w}/apps/sign_s3_objects`, { s3_objects });
  expect((await by([{ s3: "in/c.txt" }], stranger.ask)).status).toBe(401);
  const scopes = ["variables:read"];
  const token = (await expectOk(ask("POST", "/users/tokens/create", { scopes }))).text;
  expect((await by([{ s3: "in/c.txt" }], server.as(token))).status).toBe(403);
  expect((await by([{ s3: "../c.txt" }], ask)).status).toBe(400);
  const unknown = await by([{ s3: "in/c.txt", storage: "third" }], ask);
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('no storage called "third"')]);

  const [signed, gone] = await sign([{ s3: "in/c.txt" }, { s3: "in/none.txt" }]);
  expect((await follow(linkOf(gone))).status).toBe(404);
  const new_key = "k".repeat(64);
  await expectOk(ask("POST", `${w}/workspaces/encryption_key`, { new_key }));
  expect((await follow(linkOf(signed))).status).toBe(401);
});
