import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

const sources = [...new Bun.Glob("{src,cli,test}/**/*.{ts,py,md,txt}").scanSync({ cwd: root })];

/** Returns whether a source file or folder is meant: by its name, or by the last parts of its path. */
function isNamed(path: string): boolean {
  const name = path.replace(/^(\.\.?\/)+/, "");
  return sources.some(
    (file) => `/${file}`.endsWith(`/${name}`) || file.includes(`${name.replace(/\/$/, "")}/`),
  );
}

/** The comments of a TypeScript file, with the line at which each begins. Texts in quotes may look like one. */
function commentsOf(text: string): { line: number; comment: string }[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm)].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split("\n").length,
    comment,
  }));
}

test("every file named in a comment of src exists", async () => {
  // Examples of what scripts import, and files that are made in the data directory.
  const examples = new Set(["../dir/x.ts"]);
  const missing: string[] = [];
  for (const file of sources.filter((each) => each.startsWith("src/") && each.endsWith(".ts"))) {
    for (const { line, comment } of commentsOf(await Bun.file(join(root, file)).text())) {
      for (const [name] of comment.matchAll(/(?<![\w.:$*<>{}-])[\w.][\w./-]*\.ts\b(?!\w)/g)) {
        if (!examples.has(name) && !isNamed(name)) missing.push(`${file}:${line} names ${name}`);
      }
    }
  }
  expect(missing).toEqual([]);
});

test("every file and folder named in the map of the code exists", async () => {
  const map = await Bun.file(join(root, "src/README.md")).text();
  const named = [...map.matchAll(/`((?:[\w-]+\/)+(?:[\w.-]+\.(?:ts|md))?)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(50);
  const missing = named.filter((path) => {
    const places = [root, join(root, "src"), join(root, "src/features")];
    return !places.some((place) => existsSync(join(place, path)));
  });
  expect(missing).toEqual([]);
});
