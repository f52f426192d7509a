/** Preprocessors that are invalid, fail, or receive unexpected requests. */
import { describe, expect, test } from "bun:test";
import { deploy } from "../../../support/harness.ts";
import { ask, run, setUpPreprocessors } from "./preprocessors-setup.ts";

setUpPreprocessors();

describe("invalid preprocessors", () => {
  const python = { language: "python3" };
  const rows: [what: string, content: string, more: object, error: object][] = [
    [
      "throw",
      "export function preprocessor() { throw new RangeError('too much') }\nexport const main = () => 1",
      {},
      { name: "RangeError", message: "the preprocessor failed: too much" },
    ],
    [
      "reject",
      "export async function preprocessor() { await 1; throw new Error('no') }\nexport const main = () => 1",
      {},
      { name: "Error", message: "the preprocessor failed: no" },
    ],
    [
      "throw behind its own back",
      "export const preprocessor = () => new Promise(() => { setTimeout(() => { throw new Error('late') }, 1) })\nexport const main = () => 1",
      {},
      { name: "Error", message: "the preprocessor failed: late" },
    ],
    [
      "return nothing",
      "export function preprocessor() {}\nexport const main = () => 1",
      {},
      {
        name: "InvalidPreprocessorResult",
        message:
          "the preprocessor failed: it must return an object, the arguments of main, and returned null",
      },
    ],
    [
      "return an array",
      "export const preprocessor = () => [1]\nexport const main = () => 1",
      {},
      { name: "InvalidPreprocessorResult", message: expect.stringContaining("returned [1]") },
    ],
    [
      "return a function",
      "export const preprocessor = () => () => 1\nexport const main = () => 1",
      {},
      {
        name: "ResultNotSerializable",
        message: expect.stringContaining(
          "the preprocessor failed: it returned a function, which is not JSON",
        ),
      },
    ],
    [
      "raise, in Python",
      "def preprocessor():\n  raise KeyError('a')\ndef main():\n  pass",
      python,
      { name: "KeyError", message: "the preprocessor failed: 'a'" },
    ],
    [
      "return nothing, in Python",
      "def preprocessor():\n  pass\ndef main():\n  pass",
      python,
      { name: "InvalidPreprocessorResult", message: expect.stringContaining("returned null") },
    ],
    [
      "return what is not JSON, in Python",
      "def preprocessor():\n  return {'a': object()}\ndef main():\n  pass",
      python,
      {
        name: "ResultNotSerializable",
        message: expect.stringContaining("the preprocessor failed: it returned"),
      },
    ],
  ];

  test.each(rows)("%s", async (what, content, more, error) => {
    const path = `u/admin/${what.replace(/\W+/g, "_")}`;
    await deploy(ask, "acme", path, content, more);
    const job = await run(path, { a: 1 });
    expect([job.success, job.result.error]).toMatchObject([false, error]);
    // The arguments that it would have replaced are still shown.
    expect([job.preprocessed, job.args]).toEqual([undefined, { a: 1 }]);
  });
});

test.each([
  [
    "TypeScript",
    "bun",
    "export const preprocessor = () => ({ b: 2 })\nexport const main = () => { throw new Error('mine') }",
  ],
  ["Python", "python3", "def preprocessor():\n  return {'b': 2}\ndef main(b):\n  raise Exception('mine')"],
])("when main fails, its arguments are still shown: %s", async (_, language, content) => {
  const path = `u/admin/fails_${language}`;
  await deploy(ask, "acme", path, content, { language });
  const job = await run(path, { a: 1 });
  expect(job.result.error.message).toBe("mine");
  expect([job.preprocessed, job.args]).toEqual([true, { b: 2 }]);
});
