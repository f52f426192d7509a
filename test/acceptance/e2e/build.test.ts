/** Builds for named machines: this one, which runs it, and others, whose files are only inspected. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSIONS_TEXT } from "../../../src/lib/version.ts";
import { isOffline } from "../clients/registry.ts";

const outdir = mkdtempSync(join(tmpdir(), "svc-build-"));
afterAll(() => rmSync(outdir, { recursive: true, force: true }));

async function build(...target: string[]) {
  const root = join(import.meta.dir, "../../..");
  const child = Bun.spawn([process.execPath, "cli/build.ts", "--outdir", outdir, "--target", ...target], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [err, code] = await Promise.all([child.stderr.text(), child.exited]);
  return { code, err };
}

test.if(process.platform === "linux")(
  "an executable contains the name of its platform, and runs there",
  async () => {
    const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
    const name = `linux-${process.arch}${report.header.glibcVersionRuntime ? "" : "-musl"}`;
    expect((await build(name)).code).toBe(0);
    expect(readdirSync(outdir)).toEqual([`svc-${name}`]);
    const run = Bun.spawn([join(outdir, `svc-${name}`), "--version"], { stdout: "pipe" });
    expect((await run.stdout.text()).trim()).toBe(VERSIONS_TEXT);
  },
  60_000,
);

test("an unknown target is rejected with the list of known ones", async () => {
  const { code, err } = await build("linux-ppc64");
  expect(code).toBe(1);
  for (const name of ["linux-x64-musl", "linux-arm64", "macos-arm64", "windows-x64"])
    expect(err).toContain(name);
});

const ELF_MACHINES: Record<number, string> = { 62: "x64", 183: "arm64" };
const MACH_O_MACHINES: Record<number, string> = { 16777223: "x64", 16777228: "arm64" };
const PE_MACHINES: Record<number, string> = { 34404: "x64", 43620: "arm64" };

/** Returns the platform in an executable's header: ELF with its loader, Mach-O, or PE. */
async function machineOf(path: string): Promise<string> {
  const head = Buffer.from(await Bun.file(path).slice(0, 4096).arrayBuffer());
  if (head.readUInt32BE(0) === 0x7f454c46) {
    const isMusl = head.includes("/ld-musl-");
    return `linux-${ELF_MACHINES[head.readUInt16LE(18)]}${isMusl ? "-musl" : ""}`;
  }
  if (head.readUInt32LE(0) === 0xfeedfacf) return `macos-${MACH_O_MACHINES[head.readUInt32LE(4)]}`;
  if (head.toString("latin1", 0, 2) === "MZ") {
    return `windows-${PE_MACHINES[head.readUInt16LE(head.readUInt32LE(60) + 4)]}`;
  }
  return "unknown";
}

// The runtimes for other machines come from the package registry.
test
  .skipIf(isOffline)
  .each([
    "linux-x64",
    "linux-x64-musl",
    "linux-arm64",
    "linux-arm64-musl",
    "macos-x64",
    "macos-arm64",
    "windows-x64",
    "windows-arm64",
  ])(
  "the executable for %s has the right format",
  async (name) => {
    expect(await build(name)).toMatchObject({ code: 0 });
    const file = join(outdir, `svc-${name}${name.startsWith("windows") ? ".exe" : ""}`);
    expect(await machineOf(file)).toBe(name);
    rmSync(file);
  },
  120_000,
);

test.each(["darwin", "win32"])(
  "on the platform %s, nothing specific to Linux is used: a script runs, and the doctor reports what is missing",
  async (platform) => {
    const folder = join(outdir, platform);
    mkdirSync(folder);
    writeFileSync(join(folder, "twice.ts"), "export const main = (n = 21) => 2 * n;\n");
    const svc = async (...words: string[]) => {
      const named = ["--define", `process.platform:${JSON.stringify(platform)}`];
      const main = join(import.meta.dir, "../../../cli/main.ts");
      const child = Bun.spawn([process.execPath, ...named, main, ...words], {
        cwd: folder,
        env: { PATH: process.env.PATH ?? "", HOME: folder },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "ignore",
      });
      return child.stdout.text();
    };
    expect(await svc("run", "./twice.ts")).toBe("42\n");
    expect(await svc("doctor")).toContain(`${platform} has no Landlock`);
  },
  60_000,
);
