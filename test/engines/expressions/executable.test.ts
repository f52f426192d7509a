/** The sandbox and its thread are embedded in an executable, which needs no files beside it. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "../../..");

test("evaluates in a compiled executable, without other files", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-expressions-"));
  try {
    const alone = join(folder, "program");
    const entries = ["test/engines/expressions/program.ts", "src/engines/expressions/sandbox/thread.ts"];
    const build = Bun.spawn(
      [process.execPath, "build", "--compile", "--minify", `--outfile=${alone}`, ...entries],
      { cwd: root, stdout: "ignore", stderr: "pipe" },
    );
    expect([await new Response(build.stderr).text(), await build.exited]).toEqual([expect.any(String), 0]);
    const run = Bun.spawn([alone], { cwd: folder, stdout: "pipe", stderr: "inherit" });
    expect(await new Response(run.stdout).text()).toBe(
      "[2,3]\nThe limit of 50 ms of running time was met in `new Array(4294967295).indexOf(1)`\n",
    );
    expect(await run.exited).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 60_000);
