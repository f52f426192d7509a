/** Bun macros: they run when the importing file is bundled or transpiled, and are replaced by what they return. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const engines = fileURLToPath(new URL("../../", import.meta.url));

/** Reads a source file. @param path relative to src/engines */
export function readSource(path: string): string {
  return readFileSync(join(engines, path), "utf8");
}

/**
 * Bundles each program with what it imports: a process that reads one file starts in half of the time beyond the
 * runtime's own.
 * @param paths relative to src/engines
 * @returns text by path, which ends in `.js`
 * @throws Error with what the bundler printed
 */
export function bundlePrograms(paths: string[]): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-programs-"));
  try {
    const flags = [
      "--target=bun",
      "--minify-whitespace",
      "--minify-syntax",
      "--root=.",
      `--outdir=${folder}`,
    ];
    // `Bun.build` would wait for the bundler that waits for this macro.
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, "build", ...flags, ...paths], {
      cwd: engines,
    });
    if (exitCode !== 0) throw new Error(`programs were not bundled:\n${stdout}${stderr}`);
    const programs = paths.map((path) => path.replace(/\.ts$/, ".js"));
    return Object.fromEntries(programs.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
