/** Long JSON is accepted exactly where JSON.parse accepts it, and its strings are found at their positions. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { replaceInLongJson, splitLongArray, validateLongJson } from "../../src/lib/json/long-json.ts";

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const isTaken = (text: string) =>
  validateLongJson(text).then(
    () => true,
    () => false,
  );

test("accepts exactly what JSON.parse accepts", async () => {
  const fixed = [
    "",
    " ",
    "-",
    "01",
    "1.",
    ".5",
    "1e",
    "-0",
    "1e+5",
    "[1,]",
    "[,]",
    "{}",
    '{"a"}',
    '{"a":1,}',
    "[]]",
    "nul",
    "truee",
    '"\\u12G4"',
    '"\\x"',
    '"\n"',
    "\u00a0[]",
    "\v[]",
    '{"a":[{}]} ',
    "[1 2]",
    '{"a" :\t1}',
    "{1:2}",
  ];
  for (const text of fixed) expect([text, await isTaken(text)]).toEqual([text, isJson(text)]);
  const broken = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "]", "}", '"', "1", "\\", ":", " ", "e"))
    .map(
      ([text, at, what]) =>
        text.slice(0, at % (text.length + 1)) + what + text.slice((at + 1) % (text.length + 1)),
    );
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), broken), async (text) => (await isTaken(text)) === isJson(text)),
    { numRuns: 2_000 },
  );
});

test("string values are replaced, in any notation, and nothing else", async () => {
  const text = String.raw`{"$a":"$b","c":["\u0024d",1.0,"e$",{"f":"\"$g"}]}`;
  const seen: string[] = [];
  const after = await replaceInLongJson(
    text,
    (all, start) => all.startsWith("$", start + 1) || all.startsWith("\\u0024", start + 1),
    async (value) => {
      seen.push(value);
      return "[0]";
    },
  );
  expect(seen).toEqual(["$b", "$d"]);
  expect(after).toBe(String.raw`{"$a":[0],"c":[[0],1.0,"e$",{"f":"\"$g"}]}`);
});

test.each([
  ["[]", []],
  [" [ ] ", []],
  ['[1, "a,]" ,{"b":[2,3]}]', ["1", ' "a,]" ', '{"b":[2,3]}']],
  ["[1,]", ["1", ""]],
  ["{}", undefined],
  ["[1", undefined],
  ["[1}", undefined],
  ["[1] 2", undefined],
])("the elements of %s are the texts %j", async (text, elements) => {
  expect(await splitLongArray(text)).toEqual(elements);
});

test("splitting a long array yields to other work, and returns all elements", async () => {
  // Long enough to take longer than one time slice on any machine.
  const text = JSON.stringify(Array.from({ length: 1_000_000 }, (_, at) => ({ at, text: 'x"]' })));
  let turns = 0;
  const takeTurn = () => {
    turns++;
    timer = setTimeout(takeTurn, 0);
  };
  let timer = setTimeout(takeTurn, 0);
  const elements = await splitLongArray(text);
  clearTimeout(timer);
  expect(turns).toBeGreaterThan(0);
  expect(elements).toHaveLength(1_000_000);
  expect(elements!.join(",") === text.slice(1, -1)).toBe(true);
});
