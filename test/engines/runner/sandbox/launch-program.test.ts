/** The programs that carry out launch plans, on this processor and, where it is emulated, on the other one. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LaunchCall, Operand } from "../../../../src/engines/runner/sandbox/isolation/launch-plan.ts";
import {
  createLaunchProgram,
  encodeCommonCalls,
} from "../../../../src/engines/runner/sandbox/isolation/launch-program.ts";
import {
  type Architecture,
  SYSCALLS,
  type Syscall,
} from "../../../../src/engines/runner/sandbox/isolation/syscalls.ts";

const place = mkdtempSync(join(tmpdir(), "svc-launch-program-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const EMULATORS: Record<Architecture, string> = { x64: "qemu-x86_64", arm64: "qemu-aarch64" };
const AT_FDCWD = -100;

describe.each(["x64", "arm64"] as const)("on %s", (architecture) => {
  const isNative = process.arch === architecture;
  const emulator = isNative ? undefined : Bun.which(EMULATORS[architecture]);
  const call = (name: Syscall, operands: Operand[], skipped?: number): LaunchCall => ({
    number: SYSCALLS[architecture][name],
    name,
    operands,
    ...(skipped === undefined ? {} : { skipped }),
  });
  const print = (text: string) => call("write", [1, text, text.length], 0);
  const openMissing = (skipped?: number) => call("openat", [AT_FDCWD, join(place, "missing"), 0], skipped);

  async function run(common: LaunchCall[], own: LaunchCall[], command = ["/bin/echo", "done"]) {
    const plan = { own, execve: SYSCALLS[architecture].execve, command };
    const file = join(place, architecture);
    writeFileSync(file, createLaunchProgram(encodeCommonCalls(common, architecture), plan), {
      mode: 0o700,
    });
    const child = Bun.spawn(emulator ? [emulator, file] : [file], {
      env: { ONE: "1", TWO: "a b" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    return { out, err, code };
  }

  describe.if(process.platform === "linux" && (isNative || Boolean(emulator)))("where it runs", () => {
    test("calls are made in order, and the command starts with its arguments and the environment", async () => {
      const command = ["/bin/sh", "-c", `echo "$ONE|$TWO|$1|$#"`, "sh", "x y", ""];
      expect(await run([print("a"), print("b")], [print("c")], command)).toEqual({
        out: "abc1|a b|x y|2\n",
        err: "",
        code: 0,
      });
    });

    test("a call that may fail skips as many as it says", async () => {
      const common = [openMissing(0), print("a"), openMissing(2), print("b"), print("c"), print("d")];
      const own = [openMissing(1), print("e"), print("f")];
      expect(await run(common, own)).toEqual({ out: "adfdone\n", err: "", code: 0 });
    });

    test.each(["common", "own"] as const)("a failed %s call ends it, and is named", async (kind) => {
      const failing = [print("a"), openMissing(), print("b")];
      const found = await (kind === "common" ? run(failing, []) : run([], failing));
      const err = "the sandbox could not be set up: openat was refused\n";
      expect(found).toEqual({ out: "a", err, code: 126 });
    });

    test("a command that cannot be executed is reported", async () => {
      const err = `${join(place, "missing")} could not be started\n`;
      expect(await run([], [], [join(place, "missing")])).toEqual({ out: "", err, code: 126 });
    });

    test("operands are texts, bytes, and words that may point to others", async () => {
      const bytes = { bytes: Buffer.from("bytes").toString("base64") };
      // struct iovec: an address and a length.
      const parts = { words: ["text", 4, bytes, 5] };
      const writev = { ...print(""), number: architecture === "x64" ? 20 : 66, operands: [1, parts, 2] };
      expect((await run([writev], [])).out).toBe("textbytesdone\n");
    });
  });
});
