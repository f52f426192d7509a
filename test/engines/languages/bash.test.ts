/** The arguments of a bash script by the `name="$1"` convention. */
import { describe, expect, test } from "bun:test";
import { analyseBash } from "../../../src/engines/languages/bash/analyse.ts";

const string = { type: "string" };

describe("arguments", () => {
  test.each([
    ["quoted", 'a="$1"', { a: string }, ["a"]],
    ["bare", "a=$1", { a: string }, ["a"]],
    ["in braces", 'a="${1}"', { a: string }, ["a"]],
    ["with a default", 'a="${1:-one two}"', { a: { ...string, default: "one two" } }, []],
    ["with an empty default", 'a="${1:-}"', { a: { ...string, default: "" } }, []],
    ["by position, not by line", 'b="$2"\na="$1"', { a: string, b: string }, ["a", "b"]],
    ["with a comment and CRLF", 'a="$1" # who\r\nb="$2"\r\n', { a: string, b: string }, ["a", "b"]],
    ["a gap has a name of its own", 'c="$3"', { arg1: string, arg2: string, c: string }, ["c"]],
    ["the first name of a position counts", 'a="$1"\nb="$1"', { a: string }, ["a"]],
    ["only at the start of a line", '  a="$1"\nlocal b="$2"\necho "$3"', {}, []],
    ["$10 is $1 and a zero to bash", 'a="$10"', {}, []],
    ["a tenth", 'a="${10}"', expect.objectContaining({ arg9: string, a: string }), ["a"]],
    ["a position nobody means", 'a="${999999999}"', {}, []],
    ["none", "echo hi", {}, []],
    ["an empty script", "", {}, []],
  ])("%s", async (_, content, properties, required) => {
    const { schema, signature, packages } = await analyseBash(content, { owner: "acme" });
    expect(schema.properties).toEqual(properties as Record<string, unknown>);
    expect(schema).toMatchObject({ required, order: Object.keys(schema.properties as object) });
    expect(signature).toMatchObject({ has_main: true, preprocessor: undefined });
    expect(packages).toBeUndefined();
  });
});

describe("a syntax error", () => {
  test("is reported with its line", async () => {
    const analysing = analyseBash("echo one\nif true; then echo two; done\n", { owner: "acme" });
    await expect(analysing).rejects.toThrow(/^Syntax error at line 2, column 1: .*done/);
  });

  test("is found without running the script", async () => {
    const mark = `/tmp/svc-bash-test-${process.pid}`;
    await analyseBash(`touch ${mark}`, { owner: "acme" });
    expect(await Bun.file(mark).exists()).toBe(false);
  });
});
