/**
 * An app of code: `wmill` builds the files of its folder, pushes source and bundle, and pulls the source back.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { createCliEnvironment } from "../../../cli/program.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { isOffline } from "../registry.ts";
import { changesIn, installWmill, type Wmill } from "./wmill.ts";

setDefaultTimeout(90_000);

const APP = "f/shop/counter.raw_app";
const FILES: Record<string, string> = {
  "f/shop/folder.meta.yaml":
    "summary: Shop\ndisplay_name: shop\nowners:\n  - u/admin\nextra_perms:\n  u/admin: true\n",
  "f/shop/price.ts": "export async function main(of: string) { return of.length }\n",
  [`${APP}/raw_app.yaml`]: "summary: Counts what is sold\n",
  [`${APP}/backend/price.yaml`]: "type: script\npath: f/shop/price\n",
  // With an empty package folder, so that wmill does not call npm.
  [`${APP}/node_modules/.keep`]: "",
  [`${APP}/index.tsx`]:
    'import { label } from "./label";\nimport "./index.css";\ndocument.body.textContent = label(41 + 1);\n',
  [`${APP}/label.ts`]: "export const label = (count: number): string => `sold: ${count}`;\n",
  [`${APP}/index.css`]: "body {\n  color: rgb(1, 2, 3);\n}\n",
};

describe.skipIf(isOffline)("an app of code that wmill pushes", () => {
  let server: TestServer;
  let ask: Ask;
  let token: string;
  let wmill: Wmill;
  let folder: string;

  beforeAll(async () => {
    [server, wmill] = await Promise.all([startTestServer(), installWmill("1.819.0")]);
    ({ ask, token } = await server.workspace("acme"));
    folder = await wmill.folder("sent");
    for (const [name, text] of Object.entries(FILES)) await Bun.write(join(folder, name), text);
    await wmill.ok(folder, ["workspace", "add", "acme", "acme", `${server.url}/`, "--token", token]);
    await wmill.ok(folder, ["script", "generate-metadata", "--yes"]);
    await wmill.ok(folder, ["sync", "push", "--yes"]);
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    await wmill[Symbol.asyncDispose]();
  });

  test("is stored with its source", async () => {
    const app = (await expectOk(ask("GET", "/w/acme/apps/get/p/f/shop/counter"))).json();
    expect(app).toMatchObject({ raw_app: true, summary: "Counts what is sold" });
    expect(app.value.files["/label.ts"]).toBe(FILES[`${APP}/label.ts`]);
    expect(app.value.runnables.price).toMatchObject({ path: "f/shop/price" });
  });

  test("is pulled unchanged, without differences", async () => {
    const again = await wmill.ok(folder, ["sync", "push", "--yes", "--dry-run"]);
    expect(changesIn(again), again).toBe(0);
    const back = await wmill.folder("back");
    await wmill.ok(back, ["sync", "pull", "--yes"]);
    for (const name of ["index.tsx", "label.ts", "index.css", "backend/price.yaml"]) {
      expect(await Bun.file(join(back, APP, name)).text()).toBe(FILES[`${APP}/${name}`]!);
    }
  });

  test("is the same for svc, whichever client pushed it", async () => {
    using place = createCliEnvironment();
    const svc = (...words: string[]) =>
      place.svc([...words, "--url", server.url, "--token", token, "--workspace", "acme"]);
    expect(await svc("pull", "--yes", "--only", "f/shop")).toMatchObject({ code: 0 });
    for (const name of ["raw_app.yaml", "index.tsx", "label.ts", "index.css", "backend/price.yaml"]) {
      expect(await Bun.file(join(place.folder, APP, name)).text()).toBe(FILES[`${APP}/${name}`]!);
    }
    expect((await svc("push", "--only", "f/shop")).out).toBe("nothing to change\n");
    await Bun.write(join(place.folder, APP, "index.css"), "body {\n  color: rgb(4, 5, 6);\n}\n");
    expect(await svc("push", "--yes", "--only", "f/shop")).toMatchObject({ code: 0 });
    await Bun.write(join(place.folder, "wmill.yaml"), "defaultTs: bun\nincludes: ['f/**']\n");
    const by_wmill = ["--workspace", "acme", "--token", token, "--base-url", `${server.url}/`];
    const again = await wmill.ok(place.folder, ["sync", "push", "--yes", "--dry-run", ...by_wmill]);
    expect(changesIn(again), again).toBe(0);
  });

  test("is built and stored again when a file of it changes", async () => {
    await Bun.write(join(folder, APP, "label.ts"), "export const label = (n: number) => `gone: ${n}`;\n");
    await wmill.ok(folder, ["sync", "push", "--yes"]);
    const app = (await expectOk(ask("GET", "/w/acme/apps/get/p/f/shop/counter"))).json();
    expect(app.value.files["/label.ts"]).toContain("gone");
    expect(app.versions.length).toBe(3);
  });
});
