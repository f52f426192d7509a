/** Conversion of TypeScript results that JSON cannot represent. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
});
afterAll(() => server.stop());

test.each<[expression: string, result: unknown]>([
  ["new Map([['a', new Set([1, 2])]])", { a: [1, 2] }],
  ["new Set()", []],
  ["({ deep: [new Map([[1, null]])] })", { deep: [{ 1: null }] }],
  ["12345678901234567890n", "12345678901234567890"],
  ["({ n: 1n, list: [2n] })", { n: "1", list: ["2"] }],
  ["({ n: 1n, kept: new Map([['x', 1]]) })", { n: "1", kept: { x: 1 } }],
  ["Buffer.from('ab')", "YWI="],
  [
    "[new Uint8Array([97, 98]), new Uint8Array(0), new Uint8Array([1, 97, 98]).subarray(1)]",
    ["YWI=", "", "YWI="],
  ],
  ["new Uint8Array([97]).buffer", "YQ=="],
  ["new Float64Array([1.5, NaN])", [1.5, null]],
  ["new Date(0)", "1970-01-01T00:00:00.000Z"],
  ["[NaN, Infinity, undefined]", [null, null, null]],
  ["undefined", null],
  ["({})", {}],
  ["({ '0': {}, type: 'Buffer', text: '{}' })", { "0": {}, type: "Buffer", text: "{}" }],
  ["({ toJSON: () => ({ own: {} }) })", { own: {} }],
  ["Object.assign(new Map([['x', 1]]), { toJSON: () => 'own' })", "own"],
])("%s", async (expression, result) => {
  const path = `u/admin/value_${Bun.hash(expression).toString(36)}`;
  await deploy(ask, "acme", path, `export const main = () => ${expression};`);
  const ran = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {});
  expect(ran.json()).toEqual(result);
});
