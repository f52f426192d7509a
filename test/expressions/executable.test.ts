/** The sandbox travels inside an executable: nothing of it is looked for beside the file. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAM = `import { evaluate } from ${JSON.stringify(join(import.meta.dir, "../../src/expressions/evaluate.ts"))};
console.log(JSON.stringify(await evaluate("flow_input.map((x) => x + 1)", { flow_input: [1, 2] })));
console.log(await evaluate("new Array(4294967295).indexOf(1)", {}, { time_ms: 50 }).catch((error) => error.message));
`;

test("evaluates in a compiled executable, alone in a folder", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-expressions-"));
  try {
    const source = join(folder, "source", "program.ts");
    const alone = join(folder, "alone", "program");
    await Bun.write(source, PROGRAM);
    const build = Bun.spawn(
      [process.execPath, "build", "--compile", "--minify", `--outfile=${alone}`, source],
      {
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    expect([await new Response(build.stderr).text(), await build.exited]).toEqual([expect.any(String), 0]);
    rmSync(join(folder, "source"), { recursive: true });
    const run = Bun.spawn([alone], { cwd: join(folder, "alone"), stdout: "pipe", stderr: "inherit" });
    expect(await new Response(run.stdout).text()).toBe(
      "[2,3]\nThe limit of 50 ms of running time was met in `new Array(4294967295).indexOf(1)`\n",
    );
    expect(await run.exited).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
