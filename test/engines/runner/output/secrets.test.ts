/** Masking itself: for any secrets and any chunks of the text, the output is the same. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MaskedText, Secrets } from "../../../../src/engines/runner/output/secrets.ts";
import { until } from "../../../support/harness.ts";

function masking(secrets: string[]) {
  const known = new Secrets();
  for (const secret of secrets) known.add(secret);
  let shown = "";
  const text = new MaskedText(known, (piece) => {
    shown += piece;
  });
  return { text, shown: () => shown };
}

function shownOf(secrets: string[], pieces: string[]): string {
  const { text, shown } = masking(secrets);
  for (const piece of pieces) text.push(piece);
  text.end();
  return shown();
}

/**
 * Reference implementation on the whole text: each run of characters that belong to a secret becomes one mask.
 */
function reference(secrets: string[], text: string): string {
  const hidden = new Array<boolean>(text.length).fill(false);
  for (const secret of secrets) {
    for (let at = 0; at + secret.length <= text.length; at++) {
      if (text.slice(at, at + secret.length) === secret) hidden.fill(true, at, at + secret.length);
    }
  }
  return [...hidden.keys()].map((at) => (!hidden[at] ? text[at] : hidden[at - 1] ? "" : "*****")).join("");
}

// Few letters, so that secrets overlap with others and themselves.
const letters = fc.constantFrom("a", "b", "c");
const secrets = fc.array(fc.string({ unit: letters, minLength: 3, maxLength: 8 }), {
  minLength: 1,
  maxLength: 4,
});
const texts = fc.string({ unit: letters, maxLength: 80 });

function cut(text: string, at: number[]): string[] {
  const places = [0, ...at.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length];
  return places.slice(1).map((place, index) => text.slice(places[index], place));
}

test("masking a text in chunks gives the same as masking it at once, however it is cut", () => {
  fc.assert(
    fc.property(secrets, texts, fc.array(fc.nat(), { maxLength: 30 }), (hidden, text, at) => {
      const shown = shownOf(hidden, cut(text, at));
      expect(shown).toBe(reference(hidden, text));
      for (const secret of hidden) expect(shown).not.toContain(secret);
    }),
    { numRuns: 3_000 },
  );
});

test("a pause between two chunks reveals no secret and loses no other text", async () => {
  const spaced = (hidden: string[]) => hidden.map((secret) => secret.repeat(3));
  await fc.assert(
    fc.asyncProperty(secrets, texts, fc.nat(), async (some, extra, place) => {
      const hidden = spaced(some);
      const text = extra + hidden[0] + extra;
      const { text: masked, shown } = masking(hidden);
      const [first = "", second = ""] = cut(text, [place]);
      masked.push(first);
      await Bun.sleep(110);
      masked.push(second);
      masked.end();
      for (const secret of hidden) expect(shown()).not.toContain(secret);
      const plain = reference(hidden, text).split("*****");
      expect(shown().startsWith(plain[0]!)).toBe(true);
      expect(shown().endsWith(plain.at(-1)!)).toBe(true);
    }),
    { numRuns: 30 },
  );
}, 60_000);

describe("a text that ends like the beginning of a secret", () => {
  test("is shown after a moment if that reveals almost nothing, and still masked when the rest arrives", async () => {
    const { text, shown } = masking(["pass-phrase-of-mine"]);
    text.push("Your p");
    expect(shown()).toBe("Your ");
    await until(() => (shown() === "Your p" ? true : undefined), "the prompt");
    text.push("ass-phrase-of-mine!");
    expect(shown()).toBe("Your p*****!");
  });

  test("is held back if it reveals much of the secret, and shown at the end", async () => {
    const { text, shown } = masking(["pass-phrase-of-mine", "xyz"]);
    text.push("Your pass-phr");
    await Bun.sleep(150);
    expect(shown()).toBe("Your ");
    text.push("ase-of-you x");
    expect(shown()).toBe("Your pass-phrase-of-you ");
    await Bun.sleep(150);
    expect(shown()).toBe("Your pass-phrase-of-you ");
    text.end();
    expect(shown()).toBe("Your pass-phrase-of-you x");
  });
});

const forms: [what: string, secret: string, printed: string, shown: string][] = [
  ["a short secret", "abc", "abc abcabc ab", "***** ***** ab"],
  ["two characters", "ab", "ab", "ab"],
  ["nothing", "", "ab", "ab"],
  ["one with a line end, trimmed", "hunter2\n", '"hunter2"', '"*****"'],
  ["one in JSON", 'säg "vän"\n\\', JSON.stringify({ a: 'säg "vän"\n\\' }), '{"a":"*****"}'],
  ["one in Python's JSON", "grün🔑", '{"a": "gr\\u00fcn\\ud83d\\udd11"}', '{"a": "*****"}'],
  ["one in PHP's JSON", "a/b/grün", '{"a":"a\\/b\\/gr\\u00fcn"}', '{"a":"*****"}'],
  ["one in Go's JSON", "a<b>&c", '{"a":"a\\u003cb\\u003e\\u0026c"}', '{"a":"*****"}'],
  ["one in Python's repr", 'it "is"\n\\mine', "{'a': 'it \"is\"\\n\\\\mine'}", "{'a': '*****'}"],
  ["one in single quotes", "it's\\mine", "'it\\'s\\\\mine'", "'*****'"],
  ["one that a shell quotes", "it's mine", "+ echo 'it'\\''s mine'", "+ echo '*****'"],
  [
    "one in a URL",
    "p@ss w/rd",
    "http://a:p%40ss%20w%2Frd@b http://a:p%40ss%20w/rd@b",
    "http://a:*****@b http://a:*****@b",
  ],
  ["one in a form", "p@ss w/rd", "a=p%40ss+w%2Frd&b", "a=*****&b"],
  ...["", "a", "an"].map((user): [string, string, string, string] => {
    const encoded = Buffer.from(`${user}hunter2hunter2`).toString("base64");
    const start = Math.ceil((user.length * 8) / 6);
    const stop = Math.floor(((user.length + 14) * 8) / 6);
    const shown = `Basic ${encoded.slice(0, start)}*****${encoded.slice(stop)}`;
    return [`one in base64, after ${user.length} bytes`, "hunter2hunter2", `Basic ${encoded}`, shown];
  }),
  ["one of several lines, each alone", "first line\r\n}\nsecond line", "> second line\n}\n", "> *****\n}\n"],
  ["lines inside JSON", 'a "quoted" line\n{', '["a \\"quoted\\" line"]', '["*****"]'],
  ["one with a NUL", "open\0sesame", "open\ufffdsesame open\0sesame", "***** *****"],
  ["one of half a million characters", "long".repeat(125_000), `<${"long".repeat(125_000)}>`, "<*****>"],
];
test.each(forms)("%s is masked in output", (_, secret, printed, shown) => {
  expect(shownOf([secret], [printed])).toBe(shown);
  expect(shownOf([secret], [...printed.slice(0, 1_000), printed.slice(1_000)])).toBe(shown);
});
