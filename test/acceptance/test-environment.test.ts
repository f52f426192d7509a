/** Tests see the caller's environment: without it they would not run on PostgreSQL. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

test("environment variables of a test run reach the tests", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-run-"));
  try {
    const file = join(folder, "prepared.test.ts");
    writeFileSync(
      file,
      'import { expect, test } from "bun:test"; test("it", () => expect(process.env.PREPARED).toBe("yes"));',
    );
    const suite = JSON.stringify(join(import.meta.dir, "../support/run/suite.ts"));
    const program = `const { runTests } = await import(${suite});
      process.env.PREPARED = "yes";
      process.exit(await runTests([${JSON.stringify(file)}]));`;
    const run = Bun.spawn([process.execPath, "-e", program], { stdio: ["ignore", "pipe", "pipe"] });
    const [printed, code] = await Promise.all([run.stderr.text(), run.exited]);
    expect(printed).toContain("1 pass");
    expect(code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
