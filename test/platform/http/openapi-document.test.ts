/** The OpenAPI description works in other tools: a linter, client generators, a browser. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { deploy, startTestServer, type TestServer } from "../../support/harness.ts";

const root = join(import.meta.dir, "../../..");

setDefaultTimeout(60_000);

let server: TestServer;
let text: string;

beforeAll(async () => {
  server = await startTestServer();
  text = (await server.as(undefined)("GET", "/openapi.yaml")).text;
});
afterAll(() => server.stop());

/** Runs a program of the project's packages. @returns its output @throws with its errors */
async function run(...command: string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, ...command], { cwd: root, stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}\n${out}\n${err}`);
  return out;
}

const lint = async (source: string) => {
  const config = await createConfig({
    extends: ["recommended-strict"],
    // Existing clients call `inputs/delete/{id}` beside `inputs/{id}/args`: literal segments precede
    // parameters. Older ones call `capture/{path}`, which has slashes, beside `capture/{id}`, which has none.
    rules: { "no-ambiguous-paths": "off", "no-identical-paths": "off" },
  });
  const problems = await lintFromString({ source, absoluteRef: join(root, "openapi.yaml"), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
};

describe("the document", () => {
  test("is valid OpenAPI 3.1, and passes a linter", async () => {
    expect(await lint(text)).toEqual([]);
  });

  test("the linter reports problems in an invalid document", async () => {
    const wrong = text.replace("operationId: getVersion", "operationId: [getVersion]");
    expect(wrong === text).toBe(false);
    expect(await lint(wrong)).not.toEqual([]);
    const dangling = text.replaceAll("#/components/responses/NotFound", "#/components/responses/Lost");
    expect(await lint(dangling)).not.toEqual([]);
  });

  test("is the same text from another server with other settings", async () => {
    const other = await startTestServer({ base_url: "https://svc.example.org", workers: 1 });
    const said = (await other.as(undefined)("GET", "/openapi.yaml")).text;
    await other.stop();
    expect(said === text).toBe(true);
  });
});

const PROGRAM = `
import { HttpError, ok } from "@oazapfts/runtime";
import * as svc from "./client.ts";

const [url, token] = process.argv.slice(2);
svc.defaults.baseUrl = url + "/api";
svc.defaults.headers = { authorization: "Bearer " + token };

const me = await ok(svc.whoami("acme"));
const name: string = me.username;
const isAdmin: boolean = me.is_admin;
const since: string = me.created_at;
const result: unknown = await ok(svc.runWaitResultScriptByPath("acme", "u/admin/double", { n: 21 }));
const paths: string[] = (await ok(svc.listScripts("acme", { perPage: 10 }))).map((script) => script.path);
const lost = await ok(svc.getVariable("acme", "u/admin/none")).catch((error: HttpError) => error.status);
console.log(JSON.stringify({ name, isAdmin, since, result, paths, lost }));
`;

describe("a client generated from it", () => {
  // In the folder of the project's packages, where the client finds its runtime.
  const made = join(root, "node_modules/.cache");
  mkdirSync(made, { recursive: true });
  const folder = mkdtempSync(join(made, "client-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(async () => {
    writeFileSync(join(folder, "openapi.yaml"), text);
    await run("node_modules/oazapfts/dist/cli.js", join(folder, "openapi.yaml"), join(folder, "client.ts"));
    const strict = { strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true };
    const modules = { target: "ESNext", module: "ESNext", moduleResolution: "bundler", types: ["bun"] };
    const compilerOptions = { ...strict, ...modules, lib: ["ESNext", "DOM"] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  });

  const check = (program: string) => {
    writeFileSync(join(folder, "program.ts"), `${program}\nexport {};\n`);
    return run("node_modules/typescript/bin/tsc", "-p", folder);
  };

  test("knows the types of requests and responses", async () => {
    expect(await check(PROGRAM)).toBe("");
    const misread = PROGRAM.replace("const isAdmin: boolean", "const isAdmin: number");
    await expect(check(misread)).rejects.toThrow("Type 'boolean' is not assignable to type 'number'");
  });

  test("calls a real server", async () => {
    const { token, ask } = await server.workspace("acme");
    await deploy(ask, "acme", "u/admin/double", "export const main = (n: number) => n * 2");
    writeFileSync(join(folder, "program.ts"), PROGRAM);
    const said = await run(join(folder, "program.ts"), server.url, token);
    expect(JSON.parse(said)).toEqual({
      name: "admin",
      isAdmin: true,
      since: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/),
      result: 42,
      paths: ["u/admin/double"],
      lost: 404,
    });
  });
});

describe("the page for people", () => {
  test("shows every operation and schema, and loads nothing", async () => {
    const answer = await server.as(undefined)("GET", "/docs");
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const ids = [...text.matchAll(/^ {6}operationId: (\w+)$/gm)].map((match) => match[1]);
    const shown = [...answer.text.matchAll(/<details id="(\w+)">/g)].map((match) => match[1]);
    expect(ids.length).toBeGreaterThan(300);
    expect(shown.sort()).toEqual(ids.sort());
    const targets = new Set([...answer.text.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]));
    const links = [...answer.text.matchAll(/href="([^"]+)"/g)].map((match) => match[1]!);
    for (const link of new Set(links)) {
      if (link !== "openapi.yaml") expect([link, targets.has(link.slice(1))]).toEqual([link, true]);
    }
    // The most used tags come first, and each operation has its call; the page's only script is its search.
    const tags = [...answer.text.matchAll(/<h2 id="(\w+)">/g)].map((match) => match[1]);
    expect(tags.slice(0, 3)).toEqual(["jobs", "scripts", "flows"]);
    expect(answer.text.match(/<pre>curl /g)).toHaveLength(ids.length);
    expect(answer.text).toContain('<input type="search"');
    expect(answer.text.match(/<script>/g)).toHaveLength(1);
    expect(answer.text.replace("<script>", "")).not.toMatch(/<(script|img|link|iframe|form)\b|\bsrc=|url\(/i);
  });

  test("is the redirect target of the server's address", async () => {
    const answer = await fetch(server.url, { redirect: "follow" });
    expect([answer.status, new URL(answer.url).pathname]).toEqual([200, "/api/docs"]);
    expect((await fetch(server.url, { method: "POST" })).status).toBe(405);
  });

  test("its policy allows its own style and script, and nothing else", async () => {
    const answer = await server.as(undefined)("GET", "/docs");
    const style = /<style>([\s\S]*?)<\/style>/.exec(answer.text)![1]!;
    const script = /<script>([\s\S]*?)<\/script>/.exec(answer.text)![1]!;
    const [styleHash, scriptHash] = [style, script].map((text) =>
      createHash("sha256").update(text).digest("base64"),
    );
    expect(answer.headers.get("content-security-policy")).toBe(
      `default-src 'none'; style-src 'sha256-${styleHash}'; script-src 'sha256-${scriptHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(answer.text).not.toContain("style=");
  });
});
