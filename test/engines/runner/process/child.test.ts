/** Starting script processes on a machine that lacks resources. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { detectSandboxSupport } from "../../../../src/engines/runner/sandbox/support.ts";

test.if(detectSandboxSupport().seccomp)("a process whose end cannot be watched has ended", async () => {
  const program = join(import.meta.dir, "launch-unwatched.ts");
  const started = Bun.spawn([process.execPath, program], { stdout: "pipe", stderr: "inherit" });
  expect(JSON.parse(await started.stdout.text())).toEqual({
    said: "Error: the process ended",
    watched: 0,
    faults: [],
  });
});
