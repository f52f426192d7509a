/** Code is analysed without being stored, as editors request it while a user types. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";
import { longestPause, MAX_PAUSE_MS } from "../../../support/pause.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

const analyse = async (language: string, content: string) => {
  const answer = await ask("POST", "/w/acme/scripts/analyse", { language, content });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.text);
};

test("arguments, packages and imports of TypeScript", async () => {
  const found = await analyse(
    "bun",
    `import { z } from "zod@4.1.0";
import { help } from "./help";
export const preprocessor = (event: unknown) => ({ event });
export async function main(name: string, times = 2) { return z && help && name.repeat(times); }`,
  );
  expect(found).toMatchObject({
    has_main: true,
    has_preprocessor: true,
    packages: ["zod@4.1.0"],
    imports: ["./help"],
    schema: { required: ["name"], properties: { name: { type: "string" }, times: { default: 2 } } },
  });
});

test("packages of Python, in the form of a requirements file", async () => {
  const found = await analyse(
    "python3",
    "import requests\ndef main(n: int = 1):\n    return requests and n\n",
  );
  expect(found).toMatchObject({ has_main: true, packages: ["requests"] });
});

test("modules of Python by the names of their packages", async () => {
  const modules = ["PIL", "yaml", "cv2", "bs4", "sklearn", "dotenv", "psycopg2", "jwt", "dateutil", "serial"];
  const found = await analyse("python3", `import ${modules.join(", ")}\ndef main(): pass\n`);
  expect(found.packages).toEqual([
    "PyJWT",
    "PyYAML",
    "beautifulsoup4",
    "opencv-python-headless",
    "pillow",
    "psycopg2-binary",
    "pyserial",
    "python-dateutil",
    "python-dotenv",
    "scikit-learn",
  ]);
});

test("a syntax error is returned as a result, not as an error", async () => {
  const found = await analyse("bun", "export const main = () => 1;\nexport const x = (;");
  expect(found.problem).toMatchObject({ line: 2, message: expect.any(String) });
  expect(found.schema).toBeUndefined();
});

test("nothing is stored", async () => {
  await analyse("bash", 'echo "$1"');
  expect(JSON.parse((await ask("GET", "/w/acme/scripts/list")).text)).toEqual([]);
});

test("an unknown language is rejected", async () => {
  const answer = await ask("POST", "/w/acme/scripts/analyse", { language: "cobol", content: "" });
  expect(answer.status).toBe(400);
});

test("a Python import of an endless name is analysed without delaying the server", async () => {
  const content = `import ${"a".repeat(200_000)}\ndef main(): pass\n`;
  const pause = await longestPause(async () => {
    await ask("POST", "/w/acme/scripts/analyse", { language: "python3", content });
  });
  expect(pause).toBeLessThan(MAX_PAUSE_MS);
});
