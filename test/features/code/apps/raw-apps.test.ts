/** Apps that are bundles of code. */
import { expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer } from "../../../support/harness.ts";

test("a raw app is a bundle that is stored, listed, read and deleted", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const ann = await server.member("acme", "ann");
  const path = "u/admin/bundle";
  const created = await ask("POST", "/w/acme/raw_apps/create", {
    path,
    value: "run(1)",
    summary: "A bundle",
  });
  expect([created.status, created.text]).toEqual([201, path]);
  const data = (who: Ask, version: number, at = path) => who("GET", `/w/acme/apps/get_data/${version}/${at}`);
  const first = await data(ask, 1);
  expect([first.text, first.headers.get("content-type")]).toEqual([
    "run(1)",
    "text/javascript; charset=utf-8",
  ]);
  expect((await ask("POST", "/w/acme/raw_apps/create", { path, value: "", summary: "" })).status).toBe(400);
  expect((await ann.ask("POST", `/w/acme/raw_apps/update/${path}`, { value: "" })).status).toBe(404);
  expect((await data(ann.ask, 1)).status).toBe(404);
  await expectOk(ask("POST", `/w/acme/raw_apps/update/${path}`, { value: "run(2)", path: "u/admin/moved" }));
  expect((await ask("GET", "/w/acme/raw_apps/list")).json()).toMatchObject([
    { path: "u/admin/moved", version: 2, summary: "A bundle", starred: false },
  ]);
  expect((await data(ask, 2, "u/admin/moved")).text).toBe("run(2)");
  expect((await data(ask, 1, "u/admin/moved")).status).toBe(404);
  expect((await ask("GET", `/w/acme/raw_apps/exists/${path}`)).json()).toBe(false);
  await expectOk(ask("DELETE", "/w/acme/raw_apps/delete/u/admin/moved"));
  expect((await ask("GET", "/w/acme/raw_apps/list")).json()).toEqual([]);
});
