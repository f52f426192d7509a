/** Secrets that expressions of a flow read are in no row and in no error, in whatever form the expression puts them. */
import { beforeAll, expect, test } from "bun:test";
import { expectOk, until } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import { ask, jobs, js, script, server, setUpFlowRuns } from "./flow-runs-setup.ts";

setUpFlowRuns();

const SECRET = 'zq7/hush+"quoted"\\and\'more';
const READ = "await variable('u/admin/hidden')";

beforeAll(async () => {
  const variable = { path: "u/admin/hidden", value: SECRET, is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", variable));
});

const BASE64 = `((text) => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const bits = [...text].map((each) => each.charCodeAt(0).toString(2).padStart(8, "0")).join("");
  return bits.match(/.{1,6}/g).map((six) => letters[parseInt(six.padEnd(6, "0"), 2)]).join("");
})`;

/** Parts of the secret in the forms that the expressions below give it. */
const TRACES = ["zq7", "hush", Buffer.from(`ann:${SECRET}`).toString("base64").slice(8, 24)];

test.each([
  ["in a text", "`Bearer ${TEXT}`", `Bearer ${SECRET}`],
  [
    "in a header in base64",
    `'Basic ' + ${BASE64}('ann:' + TEXT)`,
    `Basic ${Buffer.from(`ann:${SECRET}`).toString("base64").replace(/=+$/, "")}`,
  ],
  [
    "in a URL",
    "'https://ann:' + encodeURIComponent(TEXT) + '@host/'",
    `https://ann:${encodeURIComponent(SECRET)}@host/`,
  ],
  ["as a name", "({ deep: { [TEXT]: 1 } })", { deep: { [SECRET]: 1 } }],
  ["in JSON", "JSON.stringify({ word: TEXT })", JSON.stringify({ word: SECRET })],
])("as an input of a step, %s", async (_, expr, value) => {
  const given = { x: js(expr.replace("TEXT", READ)) };
  const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify(value)).digest("hex");
  const holds = `export const main = (x: unknown) =>
    new Bun.CryptoHasher("sha256").update(JSON.stringify(x)).digest("hex") === "${digest}"`;
  const body = { value: { modules: [script("a", holds, given)] }, args: {} };
  expect((await expectOk(ask("POST", `${jobs}/run_wait_result/preview_flow`, body))).json()).toBe(true);
});

const THROW = `(() => { throw new Error("cannot use " + word) })()`;
const failing: [where: string, step: object][] = [
  ["an input", script("a", "export const main = () => 1", { x: js(`const word = ${READ};\n${THROW}`) })],
  [
    "the name of a missing variable",
    script("a", "export const main = () => 1", { x: js(`variable(${READ})`) }),
  ],
  [
    "the name of a missing resource",
    script("a", "export const main = () => 1", { x: js(`resource(${READ})`) }),
  ],
  [
    "a condition",
    {
      ...script("a", "export const main = () => 1"),
      stop_after_if: { expr: `const word = ${READ};\n${THROW}`, skip_if_stopped: false },
    },
  ],
  [
    "an iterator",
    {
      id: "a",
      value: {
        type: "forloopflow",
        iterator: js(`const word = ${READ};\n${THROW}`),
        skip_failures: false,
        parallel: false,
        modules: [script("b", "export const main = () => 1")],
      },
    },
  ],
];
test.each(failing)("in the error of %s", async (_, step) => {
  const body = { value: { modules: [step] }, args: {} };
  const id = (await expectOk(ask("POST", `${jobs}/run/preview_flow`, body))).text;
  const text = await until(async () => {
    const job = await ask("GET", `/w/acme/jobs_u/get/${id}`);
    return job.json().type === "CompletedJob" ? job.text : undefined;
  }, "the end");
  expect(text).toContain("ExpressionError");
  expect(text).toContain("*****");
  for (const trace of TRACES) expect(text).not.toContain(trace);
});

test("nothing of it is stored", async () => {
  const stored = await readStored(server);
  expect(stored.includes("u/admin/hidden")).toBe(true);
  // The texts are too long for a matcher's message.
  expect(TRACES.filter((trace) => stored.includes(trace))).toEqual([]);
});
