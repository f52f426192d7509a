/** Package imports of a module, and its source without their versions. */
import { describe, expect, test } from "bun:test";
import { analyseTypeScript } from "../../../src/engines/languages/typescript/analyse.ts";
import { rewriteImports } from "../../../src/engines/languages/typescript/imports.ts";

function needs(content: string): string[] {
  const { packages } = analyseTypeScript(content);
  return packages?.client === "npm"
    ? packages.dependencies.map(({ name, version }) => `${name}@${version}`)
    : [];
}

describe("packages", () => {
  test.each([
    ['import a from "a"', ["a@latest"]],
    ['import "a"', ["a@latest"]],
    ['import a from "a@1.2.3"', ["a@1.2.3"]],
    ['import a from "a@^1"', ["a@^1"]],
    ['import a from "npm:a@2"', ["a@2"]],
    ['import a from "a/sub/path.js"', ["a@latest"]],
    ['import a from "a@1.2.3/sub"', ["a@1.2.3"]],
    ['import a from "@scope/a"', ["@scope/a@latest"]],
    ['import a from "@scope/a@~3.1/sub"', ["@scope/a@~3.1"]],
    ['export * from "a"', ["a@latest"]],
    ['export { x } from "a"', ["a@latest"]],
    ['export const main = () => import("a@1")', ["a@1"]],
    ['const a = require("a")', ["a@latest"]],
    ['import a, { type T } from "a"', ["a@latest"]],
    ['import { type T, x } from "a"', ["a@latest"]],
    ['import b from "b"; import a from "a"', ["a@latest", "b@latest"]],
    ['import a from "a"; import b from "a@1"; import c from "a/sub"', ["a@1"]],
    // A package named like a built-in module, imported with a version.
    ['import e from "events@3"', ["events@3"]],
  ])("%s", (content, wanted) => {
    expect(needs(content)).toEqual(wanted);
  });

  test.each([
    'import fs from "node:fs"',
    'import fs from "fs"',
    'import { readFile } from "fs/promises"',
    'import { $ } from "bun"',
    'import { Database } from "bun:sqlite"',
    'import { test } from "node:test"',
    'import a from "./a.ts"',
    'import a from "../a"',
    'import a from "/u/admin/a"',
    'import type { T } from "a"',
    'import type * as a from "a"',
    'import { type T, type U } from "a"',
    'export type { T } from "a"',
    'export { type T } from "a"',
    "const text = 'import a from \"a\"'",
    '// import a from "a"',
    "const name = 'a'; await import(name)",
  ])("none in: %s", (content) => {
    expect(needs(content)).toEqual([]);
  });

  test.each([
    ['import a from "a@1";\nimport b from "a@2"', "two versions of a: 1 and 2"],
    ['import a from "a";\nimport b from "https://example.org/b.ts"', "line 2 imports from a URL"],
    ['import a from "a@file:../x"', 'line 1 imports a at "file:.."'],
  ])("cannot be installed: %s", (content, message) => {
    expect(analyseTypeScript(content).packages).toMatchObject({ problem: expect.stringContaining(message) });
  });
});

test("versions are removed from the source; lines, other columns and strings stay", () => {
  const source = [
    'import a from "a@1.2.3"; import fs from "node:fs";',
    "import b from '@scope/b@^2/sub';",
    'const text = "a@1.2.3";',
    'export const main = () => import("npm:c@3");',
  ].join("\n");
  expect(rewriteImports(source)).toBe(
    [
      'import a from "a"; import fs from "node:fs";',
      'import b from "@scope/b/sub";',
      'const text = "a@1.2.3";',
      'export const main = () => import("c");',
    ].join("\n"),
  );
});
