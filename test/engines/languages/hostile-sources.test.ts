/**
 * Sources made to be read slowly: what they consist of matches the beginning of a declaration again and again, so that a
 * pattern that starts over takes minutes. Read at once, each takes less than a second.
 */
import { describe, expect, test } from "bun:test";
import { usesDeno } from "../../../src/engines/languages/programs/deno.ts";
import { listStatedCrates } from "../../../src/engines/languages/programs/rust.ts";
import { PROGRAMS } from "../../../src/engines/languages/programs/table.ts";
import { parsePythonLock } from "../../../src/engines/languages/python/lock-text.ts";
import { parseStatedRequirements } from "../../../src/engines/languages/python/requirements.ts";
import { analyseInThread } from "../../../src/engines/languages/reading/analyse-in-thread.ts";
import type { Language } from "../../../src/engines/languages/types.ts";
import { renderTagTemplate } from "../../../src/features/runs/arguments/tag-template.ts";
import { getStorageEndpoint } from "../../../src/features/tenancy/workspaces/storage-records.ts";
import { redactCredentials } from "../../../src/lib/logging/redact.ts";
import { removeTrailingSlashes } from "../../../src/lib/text/slashes.ts";

/** Repeats a text to about a million characters. */
const fill = (text: string, count = 1_000_000) => text.repeat(count / text.length);
/** Long enough for a pattern that takes cubic time, and short enough for a parser of the language. */
const fillSome = (text: string) => fill(text, 100_000);

const analysed: [language: Language, what: string, source: string][] = [
  ["graphql", "an operation without a list", `query ${fill("\t")}x query(`],
  ["graphql", "a type that does not end", `query q($a:!\t${fill("\n\t")}\0)`],
  ["graphql", "lists that do not end", `query q(${fill("$a:x=[")})`],
  ["graphql", "texts that do not end", `query q($a: Int)${fill('"\\')}`],
  ["postgresql", "a default with spaces", `-- $1 a\t${fill("\t")}=${fill("\t")}$\u2028x\nselect $1`],
  ["postgresql", "a type with spaces", `-- $1 a (${fill("\t")}x)\nselect $1`],
  ["postgresql", "many dimensions", `-- $1 a (int${fill("[]")})\nselect $1`],
  ["bun", "types of parameters", `/**\n * ${fillSome("@param {")}\n */\nexport function main(a: string) {}`],
  [
    "bun",
    "a name and spaces",
    `/**\n * @param ${fillSome("r")}${fillSome("\t")}\u2028x\n */\nexport function main(r: string) {}`,
  ],
];

describe("the time to analyse a source grows with its length:", () => {
  test.each(analysed)("%s, %s", async (language, _, source) => {
    const request = { language, content: source, entrypoint: "main", owner: { owner: "acme" } };
    await analyseInThread(request).catch((error) => expect(error.name).toBe("SyntaxError"));
  });

  const programs: [language: keyof typeof PROGRAMS, source: string][] = [
    ["php", `<?php${fill("\n")}function mai() {}`],
    ["powershell", fill("\n\t")],
    ["rust", `\0${fill("\n\t")}\nfn main() {}`],
    ["rust", `//! ${fill("```cargo\n")}`],
    ["rust", `//! \`\`\`cargo\n//! [dependencies]${fill("\n")}//! \`\`\`\nfn main() {}`],
    ["rust", `${fill("\t")}\`\`\`carg\nfn main() {}`],
    ["ruby", `gemfile ${fill("do#")}\r\ndef main() end`],
  ];
  test.each(programs)("%s", (language, source) => {
    const { parse, findPackages } = PROGRAMS[language];
    parse(source);
    findPackages?.(source);
  });

  test("texts of TypeScript that do not end", () => {
    expect(usesDeno(`Deno.args${fill("\\'\\")}`)).toBe(true);
  });

  test("comments and locks of Python", () => {
    for (const comment of [`#py:${fill("\t")}\u2028`, `# py: ${fill("\t")}>3.0`, `# py: 3${fill("\t")}`]) {
      parseStatedRequirements(`${comment}\n\ndef main(): pass`);
      parsePythonLock(comment);
    }
    expect(parsePythonLock(`${fill("\t#")}\u2028x`).requirements).toEqual([]);
  });

  test("slashes, addresses, tags, and credentials in a log", () => {
    expect(removeTrailingSlashes(`${fill("/")}x//`)).toBe(`${fill("/")}x`);
    const given = { bucket: "b", region: "r", endPoint: `https://s3${fill("/")}x`, useSSL: true };
    expect(getStorageEndpoint(given as Parameters<typeof getStorageEndpoint>[0])).toEndWith("/x");
    const scope = { workspace_id: "acme", args: '{"a":1}' };
    expect(renderTagTemplate(`${fill("$args[")}$args[a]`, scope)).toEndWith("$args[1");
    expect(redactCredentials(`${fill("+a")} https://ann:secret@db`)).toEndWith("https://ann:*****@db");
    expect(redactCredentials(fill("a://b:"))).toBe(fill("a://b:"));
  });
});

test("the crates that a manifest states are found", () => {
  const manifest =
    '[package]\nname = "p"\n[dependencies]\nserde = "1"\n\n rand={version="0.8"}\n[dependencies.tokio]\nversion = "1"\n[dev-dependencies]\nx = "1"\n';
  expect(listStatedCrates(manifest)).toEqual(["serde", "rand", "tokio"]);
});
