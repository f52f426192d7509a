import { describe, expect, test } from "bun:test";
import { deploy, expectOk, startTestServer } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import { askAs, BASE, create, get, getValue, server, setUpVariables, update } from "./variables-setup.ts";

setUpVariables();

describe("a variable", () => {
  test("is created, read, checked, listed and deleted", async () => {
    const answer = await create("u/dev/first", { description: "what for", value: "ünï" });
    expect([answer.status, answer.text]).toEqual([201, "variable u/dev/first created"]);
    const record = {
      workspace_id: "acme",
      path: "u/dev/first",
      value: "ünï",
      is_secret: false,
      description: "what for",
      account: null,
      is_oauth: false,
      expires_at: null,
      extra_perms: {},
      is_linked: false,
      is_refreshed: false,
      is_expired: false,
    };
    expect(await get("u/dev/first")).toEqual(record);
    expect((await askAs.dev!("GET", `${BASE}/list?path_start=u/dev/fi`)).json()).toEqual([record]);
    expect((await askAs.dev!("GET", `${BASE}/list?path_start=u/dev/fi&page=2`)).json()).toEqual([]);
    expect(await getValue("u/dev/first")).toBe("ünï");
    const exists = async () => (await askAs.dev!("GET", `${BASE}/exists/u/dev/first`)).json();
    expect(await exists()).toBe(true);
    expect((await create("u/dev/first")).text).toContain("u/dev/first already");
    expect((await askAs.dev!("DELETE", `${BASE}/delete/u/dev/first`)).status).toBe(200);
    expect(await exists()).toBe(false);
    for (const operation of ["get", "get_value"])
      expect((await askAs.dev!("GET", `${BASE}/${operation}/u/dev/first`)).status).toBe(404);
    expect((await askAs.dev!("DELETE", `${BASE}/delete/u/dev/first`)).status).toBe(404);
  });

  test("disappears after its expiry, and its path is free", async () => {
    await using own = await startTestServer();
    const { ask } = await own.workspace();
    const body = { path: "u/admin/short", value: "old", is_secret: true, description: "" };
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await expectOk(ask("POST", `${BASE}/create`, { ...body, expires_at }));
    await expectOk(ask("POST", `${BASE}/create`, { ...body, path: "u/admin/short2", expires_at }));
    await expectOk(ask("POST", `${BASE}/create`, { ...body, path: "u/admin/kept", value: "new" }));
    expect((await ask("GET", `${BASE}/get/u/admin/short`)).json().expires_at).toBe(expires_at);
    Object.assign(own.server.app, { clock: () => new Date(Date.now() + 3_601_000) });
    expect((await ask("GET", `${BASE}/get/u/admin/short`)).status).toBe(404);
    expect((await ask("GET", `${BASE}/exists/u/admin/short`)).json()).toBe(false);
    expect((await ask("GET", `${BASE}/list`)).json()).toHaveLength(1);
    await expectOk(ask("POST", `${BASE}/update/u/admin/kept`, { path: "u/admin/short" }));
    expect((await ask("GET", `${BASE}/get_value/u/admin/short`)).json()).toBe("new");
    await expectOk(ask("POST", `${BASE}/create`, { ...body, path: "u/admin/short2", value: "again" }));
    expect((await ask("GET", `${BASE}/get_value/u/admin/short2`)).json()).toBe("again");
  });
});

test("a path may begin with a slash, in a body and in a URL, as some clients write it", async () => {
  const made = await expectOk(create("/u/dev/slashed", { value: "one" }));
  expect(made.text).toBe("variable u/dev/slashed created");
  await expectOk(askAs.dev!("POST", `${BASE}/update//u/dev/slashed`, { value: "two" }));
  for (const [call, found] of [
    ["get_value//u/dev/slashed", "two"],
    ["exists//u/dev/slashed", true],
    ["exists//u/dev/not_there", false],
  ] as const) {
    expect((await expectOk(askAs.dev!("GET", `${BASE}/${call}`))).json()).toBe(found);
  }
  // Rights and errors are those of the same call without the slash; other slashes are not part of a path.
  expect((await askAs.dev2!("GET", `${BASE}/get//u/dev/slashed`)).status).toBe(404);
  expect((await askAs.dev!("PUT", `${BASE}/get//u/dev/slashed`)).status).toBe(405);
  expect((await askAs.dev!("GET", `${BASE}//get/u/dev/slashed`)).status).toBe(404);
  await expectOk(askAs.dev!("DELETE", `${BASE}/delete//u/dev/slashed`));
  expect(await getValue("u/dev/slashed").catch(() => "gone")).toBe("gone");
});

describe("a secret", () => {
  test("is returned only to its readers: no list, file, row or log contains it in plain text", async () => {
    const logged: unknown[] = [];
    const take = (...parts: unknown[]) => logged.push(parts);
    const { log } = server.server.app;
    Object.assign(server.server.app, { log: { debug: take, info: take, warn: take, error: take } });
    const first = "open-sesame-one";
    const second = "open-sesame-two";
    await expectOk(create("u/dev/secret", { value: first, is_secret: true }));
    expect(await getValue("u/dev/secret")).toBe(first);
    expect((await get("u/dev/secret")).value).toBe(first);
    expect((await get("u/dev/secret", "?decrypt_secret=false")).value).toBeNull();
    await expectOk(update("u/dev/secret", { value: second }));
    expect((await create("u/dev/secret", { value: first, is_secret: true })).status).toBe(400);
    expect((await update("u/dev/no", { value: first })).status).toBe(404);
    const answers = [
      await askAs.dev!("GET", `${BASE}/list`),
      await askAs.admin!("GET", "/w/acme/audit/list"),
      await askAs.dev!("GET", `${BASE}/get/u/dev/secret?decrypt_secret=false&include_encrypted=true`),
    ].map(({ text }) => text);
    const everything = [...answers, await readStored(server), JSON.stringify(logged)].join("\n");
    Object.assign(server.server.app, { log });
    expect(everything).toContain("u/dev/secret");
    for (const secret of [first, second, Buffer.from(first).toString("base64")])
      expect(everything).not.toContain(secret);
  });

  test("is encrypted differently each time, and can be decrypted within its workspace only", async () => {
    const sealed = async () => (await expectOk(askAs.dev!("POST", `${BASE}/encrypt`, '"same"'))).text;
    const [one, two] = [await sealed(), await sealed()];
    expect(one).not.toBe(two);
    await expectOk(
      askAs.dev!("POST", `${BASE}/create?already_encrypted=true`, {
        path: "u/dev/moved",
        value: one,
        is_secret: true,
        description: "",
      }),
    );
    expect(await getValue("u/dev/moved")).toBe("same");
    const shown = await get("u/dev/moved", "?decrypt_secret=false&include_encrypted=true");
    expect(shown.value).toBe(one);
    expect((await update("u/dev/moved", { value: two }, "?already_encrypted=true")).status).toBe(200);
    expect(await getValue("u/dev/moved")).toBe("same");
    const beyond = { id: "beyond", name: "Beyond", owner: "admin_acme@example.org" };
    await expectOk(server.operator("POST", "/workspaces/create", beyond));
    const foreign = (await askAs.admin!("POST", "/w/beyond/variables/encrypt", '"same"')).text;
    const changed = `${one.slice(0, -6)}${one.at(-6) === "A" ? "B" : "A"}${one.slice(-5)}`;
    for (const bad of [foreign, changed, "same", ""]) {
      await expectOk(update("u/dev/moved", { value: bad }, "?already_encrypted=true"));
      const unread = await askAs.dev!("GET", `${BASE}/get_value/u/dev/moved`);
      expect([unread.status, unread.text]).toEqual([
        400,
        expect.stringContaining("u/dev/moved cannot be read: it was encrypted elsewhere"),
      ]);
      const kept = await get("u/dev/moved", "?decrypt_secret=false&include_encrypted=true");
      expect(kept.value).toBe(bad);
    }
  });
});

test.each([
  [{}, {}],
  [{ description: "new" }, { description: "new" }],
  [{ description: "" }, { description: "" }],
  [{ value: "new" }, { value: "new" }],
  [{ value: "" }, { value: "" }],
  [
    { is_secret: false, value: "new" },
    { is_secret: false, value: "new" },
  ],
  [{ path: null, value: null, is_secret: null, description: null }, {}],
])("an update with %j keeps the other fields, of a secret and of a plain variable", async (body, change) => {
  for (const is_secret of [true, false]) {
    const path = `u/dev/kept_${Bun.randomUUIDv7()}`;
    await expectOk(create(path, { is_secret, value: "before", description: "before" }));
    const before = await get(path);
    await expectOk(update(path, body));
    expect(await get(path)).toEqual({ ...before, ...change });
  }
});

test("secrecy can be changed: a plain value is encrypted, a secret never becomes plain without a new value", async () => {
  await expectOk(create("u/dev/turns", { value: "turned" }));
  await expectOk(update("u/dev/turns", { is_secret: true }));
  expect((await get("u/dev/turns", "?decrypt_secret=false")).value).toBeNull();
  expect(await getValue("u/dev/turns")).toBe("turned");
  const refused = await update("u/dev/turns", { is_secret: false });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("`value`")]);
  expect((await get("u/dev/turns")).is_secret).toBe(true);
});

test("renaming moves a variable with its value, never onto another one or to an unwritable path", async () => {
  await expectOk(create("u/dev/name", { value: "moving", is_secret: true }));
  await expectOk(create("u/dev/taken"));
  expect((await update("u/dev/name", { path: "u/dev/taken" })).status).toBe(400);
  expect((await update("u/dev/name", { path: "u/dev2/name" })).status).toBe(403);
  expect((await update("u/dev/name", { path: "no path" })).status).toBe(400);
  expect((await update("u/dev/name", { path: "u/dev/renamed" })).text).toContain("u/dev/renamed");
  expect((await askAs.dev!("GET", `${BASE}/get/u/dev/name`)).status).toBe(404);
  expect(await getValue("u/dev/renamed")).toBe("moving");
});

test("read and write access: owners, groups, admins; operators read secrets through jobs only", async () => {
  const secret = { is_secret: true, value: "hidden" };
  for (const path of ["u/dev2/own", "g/all/shared"]) await expectOk(create(path, secret, askAs.dev2));
  const cases: [who: string, path: string, read: number, write: number][] = [
    ["dev2", "u/dev2/own", 200, 200],
    ["admin", "u/dev2/own", 200, 200],
    ["dev", "u/dev2/own", 404, 404],
    ["ops", "u/dev2/own", 404, 403],
    ["dev", "g/all/shared", 200, 200],
    ["ops", "g/all/shared", 403, 403],
  ];
  for (const [who, path, read, write] of cases) {
    const answers = [
      await askAs[who]!("GET", `${BASE}/get/${path}`),
      await askAs[who]!("GET", `${BASE}/get_value/${path}`),
      await askAs[who]!("POST", `${BASE}/update/${path}`, { description: who }),
    ];
    expect([who, path, ...answers.map(({ status }) => status)]).toEqual([who, path, read, read, write]);
    const listed = (await askAs[who]!("GET", `${BASE}/list?path_start=${path}`)).json();
    expect([who, path, listed.length]).toEqual([who, path, read === 404 ? 0 : 1]);
  }
  const [shown] = (await askAs.dev!("GET", `${BASE}/list?path_start=g/all/shared`)).json();
  expect([shown.is_secret, shown.value]).toEqual([true, null]);
  expect((await askAs.dev!("DELETE", `${BASE}/delete/u/dev2/own`)).status).toBe(404);
  expect((await askAs.ops!("GET", `${BASE}/get/g/all/shared?decrypt_secret=false`)).status).toBe(200);
  const reads = `export async function main() {
    const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/variables/get_value/g/all/shared";
    return (await fetch(url, { headers: { authorization: "Bearer " + process.env.WM_TOKEN } })).json();
  }`;
  await deploy(askAs.dev!, "acme", "g/all/reads", reads);
  const run = await askAs.ops!("POST", "/w/acme/jobs/run_wait_result/p/g/all/reads", {});
  expect(run.json()).toBe("hidden");
});

test.each([
  ["no path", { path: undefined }, "`path`"],
  ["a path of two parts", { path: "u/dev" }, '"u/dev" is not a path'],
  ["a path that climbs", { path: "u/dev/../x" }, "is not a path"],
  ["a value that is a number", { value: 1 }, "`value`"],
  ["no value", { value: undefined }, "`value`"],
  ["is_secret as text", { is_secret: "true" }, "`is_secret`"],
  ["a description that is null", { description: null }, "`description`"],
  ["an account that is text", { account: "1" }, "`account`"],
  ["a date that is none", { expires_at: "soon" }, "`expires_at`"],
])("a variable with %s is rejected with the reason", async (_, change, message) => {
  const answer = await create("u/dev/bad", change);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(message);
});

test("the contextual variables are listed with the values for a job of the caller", async () => {
  const listed: { name: string; value: string; description: string; is_custom: boolean }[] = (
    await expectOk(askAs.dev!("GET", `${BASE}/list_contextual`))
  ).json();
  await deploy(askAs.dev!, "acme", "u/dev/example", "export const main = () => process.env");
  const given = (
    await expectOk(askAs.dev!("POST", "/w/acme/jobs/run_wait_result/p/u/dev/example", {}))
  ).json();
  const names = listed.map(({ name }) => name);
  expect(names.toSorted()).toEqual(
    Object.keys(given)
      .filter((name) => name.startsWith("WM_"))
      .toSorted(),
  );
  const same = [
    "WM_WORKSPACE",
    "WM_EMAIL",
    "WM_USERNAME",
    "WM_BASE_URL",
    "WM_JOB_PATH",
    "WM_PERMISSIONED_AS",
    "WM_STATE_PATH",
    "WM_FLOW_PATH",
  ];
  for (const { name, value: getValue, description, is_custom } of listed) {
    expect([name, is_custom, description !== ""]).toEqual([name, false, true]);
    if (same.includes(name)) expect([name, getValue]).toEqual([name, given[name]]);
  }
  expect(given.WM_USERNAME).toBe("dev");
});

test("a variable says whether a resource has the same path", async () => {
  await expectOk(create("u/dev/beside"));
  expect(await get("u/dev/beside")).toMatchObject({
    is_linked: false,
    is_refreshed: false,
    is_expired: false,
  });
  const body = { path: "u/dev/beside", value: {}, resource_type: "any" };
  await expectOk(askAs.dev!("POST", "/w/acme/resources/create", body));
  expect(await get("u/dev/beside")).toMatchObject({ is_linked: true });
  const [listed] = (await askAs.dev!("GET", `${BASE}/list?path_start=u/dev/beside`)).json();
  expect(listed.is_linked).toBe(true);
});

test("a NUL character is stored or rejected, depending on the database, and never an internal error", async () => {
  const answer = await create("u/dev/nul", { value: "a\u0000b" });
  if (answer.status === 201) expect(await getValue("u/dev/nul")).toBe("a\u0000b");
  else expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("NUL")]);
});

test.each([
  ["/list?per_page=0", "`per_page`"],
  ["/list?per_page=many", "`per_page`"],
  ["/list?page=-1", "`page`"],
  ["/get/u/dev/bad?decrypt_secret=maybe", "`decrypt_secret`"],
])("the query %s is rejected with the reason", async (path, message) => {
  const answer = await askAs.dev!("GET", `${BASE}${path}`);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
});
