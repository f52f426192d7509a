import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

const sources = [...new Bun.Glob("{src,cli,test}/**/*.{ts,py,md,txt}").scanSync({ cwd: root })];

/** Whether the text names a source file or folder: by its name, or by the last parts of its path. */
function isNamed(path: string): boolean {
  const name = path.replace(/^(\.\.?\/)+/, "");
  return sources.some(
    (file) => `/${file}`.endsWith(`/${name}`) || file.includes(`${name.replace(/\/$/, "")}/`),
  );
}

/** The comments of a TypeScript file, with their line numbers. Quoted texts may look like comments. */
function commentsOf(text: string): { line: number; comment: string }[] {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*$/gm)].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split("\n").length,
    comment,
  }));
}

test("every file named in a comment of src exists", async () => {
  // Examples of imports in scripts, and files that are created in the data directory.
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
