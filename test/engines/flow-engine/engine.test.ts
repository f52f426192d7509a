import { expect, test } from "bun:test";
import { basename, join } from "node:path";
import { runCase } from "./case.ts";

const cases = join(import.meta.dir, "cases");

for (const file of [...new Bun.Glob("*.yaml").scanSync(cases)].sort()) {
  test(basename(file, ".yaml"), async () => {
    const { expected, actual } = await runCase(await Bun.file(join(cases, file)).text());
    expect(actual).toEqual(expected);
  });
}
