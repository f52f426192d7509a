/** Words of jobs and queries. */
import { expect, test } from "bun:test";
import { hasTerms, listJobWords, parseTerms } from "../../../../src/features/runs/search/words.ts";

const job = (args: string, result: string | null = null) => ({
  id: "0190",
  script_path: "f/shop/import_orders",
  created_by: "ann",
  labels: ["blue"],
  args,
  result,
});

test("words are letters and digits, in lower case and without accents", () => {
  expect(listJobWords(job('{"Name":"Zoë O\'Neil","n":-12.5}', '"Straße\\n\\u00c9t\\u00e9"'))).toBe(
    "0190 f shop import orders ann blue name zoe o neil n 12 5 straße ete",
  );
});

test.each([
  ["shop/import_ord", true],
  ["hop", false],
  ['"import orders ann"', true],
  ['"orders import"', false],
  ["12.5", true],
  ["東京", true],
  ["京東", false],
])("%s is found: %p", (query, isFound) => {
  expect(hasTerms(job('{"city":"大東京都","n":12.5}'), parseTerms(query))).toBe(isFound);
});

test("encrypted values have no words, and neither has text beyond the limit", () => {
  const words = listJobWords(job('{"key":"$encrypted:c2VjcmV0","next":"\\"plain\\""}'));
  expect(words).toEndWith("key next plain");
  expect(listJobWords(job(`["${"x ".repeat(40_000)}","end"]`)).length).toBeLessThan(8_100);
});

test("JSON that is truncated anywhere has the words before that", () => {
  const text = '{"a":"one \\"two\\" \\u0074hree"}';
  for (let length = 0; length <= text.length; length++)
    expect(() => listJobWords(job(text.slice(0, length)))).not.toThrow();
  expect(listJobWords(job(text.slice(0, 16)))).toEndWith("a one two");
});

test("a long word is truncated, in jobs and in queries", () => {
  const word = "k".repeat(300);
  expect(hasTerms(job(`{"a":"${word}"}`), parseTerms(word))).toBe(true);
});
