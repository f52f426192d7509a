/**
 * `bun run release`: creates the files of a release: executables for all machines, Debian packages, a Homebrew formula,
 * an installation script, and checksums.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { removeTrailingSlashes } from "../src/lib/text/slashes.ts";
import { VERSION } from "../src/lib/version.ts";
import { buildDebianPackage, DEBIAN_MACHINES } from "./release/debian.ts";
import { formatFormula, type ReleaseFile } from "./release/formula.ts";
import installer from "./release/install.sh" with { type: "text" };

const ROOT = join(import.meta.dir, "..");
const CHECKSUMS = "SHA256SUMS";

interface ReleaseOptions {
  target: string[];
  outdir: string;
  url: string;
}

/**
 * Removes the files of an earlier release.
 * @throws Error if the folder contains anything else; then nothing is removed
 */
function removeEarlierRelease(outdir: string): void {
  const present = existsSync(outdir) ? readdirSync(outdir) : [];
  if (present.length === 0) return;
  const sums = join(outdir, CHECKSUMS);
  const listed = existsSync(sums) ? readFileSync(sums, "utf8").matchAll(/^[0-9a-f]{64} [ *](.+)$/gm) : [];
  const released = new Set([CHECKSUMS, ...Array.from(listed, ([, name]) => name!)]);
  const other = present.find((name) => !released.has(name) || !/^(svc|install\.sh|SHA256SUMS)/.test(name));
  if (other !== undefined) {
    throw new Error(
      `${outdir} holds ${other}, which does not belong to a release: choose another folder with --outdir`,
    );
  }
  for (const name of present) rmSync(join(outdir, name));
}

/** Builds all files of a release. @throws Error if a file cannot be built */
async function release({ target, outdir: given, url }: ReleaseOptions): Promise<void> {
  const outdir = resolve(given);
  removeEarlierRelease(outdir);
  mkdirSync(outdir, { recursive: true });
  await buildExecutables(outdir, target);
  const executables = readdirSync(outdir).sort();
  const license = await Bun.file(join(ROOT, "LICENSE")).text();
  for (const [name, machine] of Object.entries(DEBIAN_MACHINES)) {
    const executable = join(outdir, `svc-${name}`);
    if (existsSync(executable))
      await buildDebianPackage({ version: VERSION, machine, executable, license, outdir });
  }
  const folder = removeTrailingSlashes(url);
  const files = await Promise.all(executables.map((name) => describeFile(outdir, name)));
  writeFileSync(join(outdir, "svc.rb"), formatFormula(VERSION, folder, files));
  writeFileSync(
    join(outdir, "install.sh"),
    installer.replaceAll("@VERSION@", VERSION).replaceAll("@URL@", folder),
  );
  chmodSync(join(outdir, "install.sh"), 0o755);
  const all = await Promise.all(
    readdirSync(outdir)
      .sort()
      .map((name) => describeFile(outdir, name)),
  );
  writeFileSync(join(outdir, CHECKSUMS), all.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(""));
  for (const { name } of all) console.log(join(given, name));
  console.log(join(given, CHECKSUMS));
}

async function buildExecutables(outdir: string, target: string[]): Promise<void> {
  const build = Bun.spawn(
    [process.execPath, join(import.meta.dir, "build.ts"), "--outdir", outdir, "--target", ...target],
    { cwd: ROOT, stdout: "inherit", stderr: "inherit" },
  );
  if ((await build.exited) !== 0) throw new Error("the executables were not built");
}

async function describeFile(outdir: string, name: string): Promise<ReleaseFile> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const bytes of Bun.file(join(outdir, name)).stream()) hash.update(bytes);
  return { name, sha256: hash.digest("hex") };
}

await new Command("release")
  .description("Make the files of a release, with their checksums.")
  .option("--target <names...>", "machines to build for", ["all"])
  .option("--outdir <folder>", "where the files go; an earlier release there is replaced", "release")
  .option(
    "--url <url>",
    "where the files of this release will be served",
    `https://svc.example.org/releases/v${VERSION}`,
  )
  .addHelpText("after", "\nExample:\n  $ bun run release --url https://downloads.example.org/svc/v1.2.0")
  .action(release)
  .parseAsync();
