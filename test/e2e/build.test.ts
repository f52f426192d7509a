/** The build for a machine that is named: this one, whose runtime is here. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "../../src/lib/version.ts";

const outdir = mkdtempSync(join(tmpdir(), "svc-build-"));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

async function build(...target: string[]) {
  const root = join(import.meta.dir, "../..");
  const child = Bun.spawn([process.execPath, "cli/build.ts", "--outdir", outdir, "--target", ...target], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [err, code] = await Promise.all([child.stderr.text(), child.exited]);
  return { code, err };
}

test.if(process.platform === "linux")(
  "an executable carries the name of the machine it is for, and runs there",
  async () => {
    const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    const name = `linux-${process.arch}${report.header.glibcVersionRuntime ? "" : "-musl"}`;
    expect((await build(name)).code).toBe(0);
    expect(readdirSync(outdir)).toEqual([`svc-${name}`]);
    const run = Bun.spawn([join(outdir, `svc-${name}`), "--version"], { stdout: "pipe" });
    expect((await run.stdout.text()).trim()).toBe(VERSION);
  },
  60_000,
);

test("a machine there is no runtime for is refused, and those there are get named", async () => {
  const { code, err } = await build("linux-ppc64");
  expect(code).toBe(1);
  for (const name of ["linux-x64-musl", "linux-arm64", "macos-arm64", "windows-x64"])
    expect(err).toContain(name);
});
