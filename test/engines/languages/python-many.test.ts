/** Child processes of this one. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { analysePython } from "../../../src/engines/languages/python/analyse.ts";

/** Child processes of this one. */
const children = () => {
  const { pid } = process;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).length;
};

test.if(process.platform === "linux" && Bun.which("python3") !== null)(
  "scripts are analysed by a few interpreters, one after the other, and a faulty one delays none of them",
  async () => {
    const before = children();
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, children() - before);
    }, 2);
    const read = Array.from({ length: 40 }, async (_, n) => {
      const content = n % 4 === 0 ? "def main(:\n" : `def main(a${n}: int):\n    return 1`;
      return analysePython(content, { owner: "acme" }).then(
        ({ signature }) => signature.parameters[0]!.name,
        (cause) => (cause as Error).name,
      );
    });
    const found = await Promise.all(read);
    clearInterval(look);
    expect(found).toEqual(found.map((_, n) => (n % 4 === 0 ? expect.stringContaining("Syntax") : `a${n}`)));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(Math.min(4, availableParallelism()));
  },
  60_000,
);
