/**
 * Apps of code: built from their folder, stored with the scripts they may run, and pulled without differences.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { desc } from "drizzle-orm";
import { appVersions } from "../../../src/features/code/apps/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../support/harness.ts";
import { type CliEnvironment, createCliEnvironment } from "../program.ts";
import { readFiles, writeFiles } from "./sync-files.ts";

let server: TestServer;
let ask: Ask;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask, token } = await server.workspace());
});
afterAll(() => server.stop());

const svc = (place: CliEnvironment, ...words: string[]) =>
  place.svc([...words, "--url", server.url, "--token", token, "--workspace", "acme"]);
const show = async () => (await expectOk(ask("GET", "/w/acme/apps/get/p/f/shop/counter"))).json();

/** Reads the page that was stored last. */
async function readPage() {
  const { read } = server.server.app.db;
  const [row] = await read.select().from(appVersions).orderBy(desc(appVersions.id)).limit(1);
  return row!.bundle!;
}

/** Runs the page in a window that answers its requests. @returns its text, and the requests */
async function open({ js }: { js: string }, result: unknown) {
  const asked: Record<string, unknown>[] = [];
  const body = { textContent: "" };
  const shown = Promise.withResolvers<void>();
  const listeners: ((event: { data: unknown }) => void)[] = [];
  const parent = {
    postMessage(message: Record<string, unknown>) {
      asked.push(message);
      for (const tell of listeners) tell({ data: { type: "backendRes", reqId: message.reqId, result } });
      setTimeout(shown.resolve);
    },
  };
  const listen = (_: string, listener: (event: { data: unknown }) => void) => listeners.push(listener);
  new Function("parent", "document", "addEventListener", js)(parent, { body }, listen);
  await shown.promise;
  return { text: body.textContent, asked };
}

const APP = "f/shop/counter.raw_app";
const PRICE = "export const main = (of: string, tax: number) => of.length + tax;\n";
const FILES: Record<string, string> = {
  "f/shop/double.script.yaml": "kind: script\nschema: {}\nsummary: ''\n",
  "f/shop/double.ts": "export const main = (x: number) => 2 * x;\n",
  [`${APP}/raw_app.yaml`]: "summary: Counts what is sold\ndata:\n  tables: []\npublic: true\n",
  [`${APP}/backend/price.yaml`]:
    "type: inline\nname: Price\nfields:\n  db:\n    allowUserResources: true\n    expr: $res\n  tax:\n    value: 7\n",
  [`${APP}/backend/price.ts`]: PRICE,
  [`${APP}/backend/rate.py`]: "def main():\n  return 1\n",
  [`${APP}/backend/rate.yaml`]: "type: inline\n",
  [`${APP}/backend/double.yaml`]: "type: script\npath: f/shop/double\n",
  [`${APP}/index.tsx`]:
    'import { backend } from "./wmill";\nimport { label } from "./lib/label";\nimport "./index.css";\nbackend.price({ of: "ab" }).then((n) => void (document.body.textContent = label(n)));\n',
  [`${APP}/lib/label.ts`]: "export const label = (count: number): string => `sold: ${count}`;\n",
  [`${APP}/index.css`]: "body { color: rgb(1, 2, 3) }\n",
  [`${APP}/notes.md`]: "Of no use to the page.\n",
};
const MADE: Record<string, string> = {
  [`${APP}/wmill.d.ts`]: "// made by a client\n",
  [`${APP}/.env`]: "SECRET=1\n",
  [`${APP}/node_modules/x/index.js`]: "throw 1;\n",
};

test("an app of code is pushed with its page, and pulled unchanged", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, { ...FILES, ...MADE });
  const pushed = await svc(place, "push", "--yes");
  expect(pushed).toMatchObject({ code: 0, out: expect.stringMatching(/\+ code app +f\/shop\/counter/) });
  const { value, policy, ...app } = await show();
  expect(app).toMatchObject({ raw_app: true, summary: "Counts what is sold" });
  expect(Object.keys(value.files).sort()).toEqual(["/index.css", "/index.tsx", "/lib/label.ts", "/notes.md"]);
  expect(value.data).toEqual({ tables: [] });
  expect(value.runnables).toMatchObject({
    price: { type: "inline", name: "Price", inlineScript: { content: PRICE, language: "bun" } },
    rate: { inlineScript: { language: "python3" } },
    double: { type: "path", runType: "script", path: "f/shop/double" },
  });
  const hash = new Bun.CryptoHasher("sha256").update(PRICE).digest("hex");
  expect(policy).toMatchObject({
    execution_mode: "anonymous",
    triggerables_v2: {
      [`price:rawscript/${hash}`]: { static_inputs: { tax: 7 }, allow_user_resources: ["db"] },
      "double:script/f/shop/double": { static_inputs: {} },
    },
  });
  const page = await readPage();
  expect(page.css).toContain("#010203");
  const { text, asked } = await open(page, 9);
  expect(text).toBe("sold: 9");
  expect(asked).toEqual([
    { type: "backend", runnable_id: "price", v: { of: "ab" }, reqId: expect.any(String) },
  ]);
  expect((await svc(place, "push")).out).toBe("nothing to change\n");

  using back = createCliEnvironment();
  expect(await svc(back, "pull", "--yes")).toMatchObject({ code: 0 });
  const ofApp = (files: Record<string, string>) =>
    Object.fromEntries(Object.entries(files).filter(([name]) => name.startsWith(APP)));
  expect(ofApp(await readFiles(back.folder))).toEqual(ofApp(FILES));
  expect((await svc(back, "push")).out).toBe("nothing to change\n");

  await writeFiles(back.folder, {
    [`${APP}/lib/label.ts`]: "export const label = (count: number) => `gone: ${count}`;\n",
    [`${APP}/raw_app.yaml`]: "summary: Counts\n",
  });
  expect(await svc(back, "push", "--yes")).toMatchObject({ code: 0 });
  expect(await open(await readPage(), 1)).toMatchObject({ text: "gone: 1" });
  expect(await show()).toMatchObject({ summary: "Counts", policy: { execution_mode: "publisher" } });
  expect(await svc(place, "pull", "--yes")).toMatchObject({ code: 0 });
  expect(ofApp(await readFiles(place.folder))).toEqual({
    ...ofApp(await readFiles(back.folder)),
    [`${APP}/wmill.d.ts`]: MADE[`${APP}/wmill.d.ts`]!,
    [`${APP}/node_modules/x/index.js`]: MADE[`${APP}/node_modules/x/index.js`]!,
  });
}, 60_000);

test("rights that its files do not contain are in a separate file", async () => {
  using place = createCliEnvironment();
  const policy = "f/shop/own.policy.yaml";
  const files = {
    "f/shop/own.raw_app/raw_app.yaml": "summary: Own\n",
    "f/shop/own.raw_app/index.tsx": "document.title = 'own';\n",
    [policy]: "execution_mode: viewer\n",
  };
  await writeFiles(place.folder, files);
  expect(await svc(place, "push", "--yes")).toMatchObject({ code: 0 });
  using back = createCliEnvironment();
  expect(await svc(back, "pull", "--yes", "--only", "f/shop/own")).toMatchObject({ code: 0 });
  expect(await readFiles(back.folder)).toEqual(files);
});

const BROKEN: Record<string, [says: string, files: Record<string, string | Uint8Array>]> = {
  empty: ["it has no index.tsx, where its page starts", {}],
  lacking: ['Could not resolve: "./lacks.ts"', { "index.tsx": "import './lacks.ts';\n" }],
  running: [
    "Macros are disabled",
    {
      "index.tsx": "import { a } from './a.ts' with { type: 'macro' };\na();\n",
      "a.ts": "export const a = () => 1;\n",
    },
  ],
  drawn: ["logo.png is not text", { "index.tsx": "1;\n", "logo.png": new Uint8Array([0x89, 0xff, 0xfe]) }],
};

test("an app of code that cannot be built is reported, and stops no other item", async () => {
  using place = createCliEnvironment();
  await writeFiles(place.folder, { "f/shop/fine.variable.yaml": "value: '1'\nis_secret: false\n" });
  for (const [name, [, files]] of Object.entries(BROKEN)) {
    const folder = join(place.folder, `f/shop/${name}.raw_app`);
    await Bun.write(join(folder, "raw_app.yaml"), `summary: ${name}\n`);
    for (const [file, content] of Object.entries(files)) await Bun.write(join(folder, file), content);
  }
  const { code, out, err } = await svc(place, "push", "--yes");
  expect(code).toBe(1);
  for (const [says] of Object.values(BROKEN)) expect(`${out}${err}`).toContain(says);
  expect((await ask("GET", "/w/acme/variables/exists/f/shop/fine")).json()).toBe(true);
  const apps = (await expectOk(ask("GET", "/w/acme/apps/list"))).json() as { path: string }[];
  expect(apps.filter(({ path }) => Object.hasOwn(BROKEN, path.slice("f/shop/".length)))).toEqual([]);
});
