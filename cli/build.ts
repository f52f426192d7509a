/**
 * Compiles the executable: `bun run build` for this machine, `--target linux-arm64` (repeatable) for others, `--target
 * all` for all. Bun downloads the runtimes of other machines in its own version and caches them.
 */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { PACKED } from "../src/server/console/assets.ts";
import { bundleConsole, packBundle } from "../src/server/console/bundle.ts";

/**
 * Bun's target by the name in file names. There is no `baseline` target for older x64 processors: in this version of
 * Bun it equals the usual one.
 */
const TARGETS: Record<string, string> = {
  "linux-x64": "bun-linux-x64",
  "linux-x64-musl": "bun-linux-x64-musl",
  "linux-arm64": "bun-linux-arm64",
  "linux-arm64-musl": "bun-linux-arm64-musl",
  "macos-x64": "bun-darwin-x64",
  "macos-arm64": "bun-darwin-arm64",
  "windows-x64": "bun-windows-x64",
  "windows-arm64": "bun-windows-arm64",
};

const TARGET_NAMES = Object.keys(TARGETS);

/** The program, and the modules it runs in threads. */
const ENTRY_POINTS = [
  "cli/main.ts",
  "src/database/sqlite/aside-thread.ts",
  "src/database/sqlite/checkpoint-thread.ts",
  "src/engines/expressions/sandbox/thread.ts",
  "src/engines/languages/reading/analysis-thread.ts",
  "src/features/assets/storage/tables/table-thread.ts",
  "src/features/runs/api/lists/matching/match-thread.ts",
];

/** Disables loading of `.env`, `bunfig.toml` (with its `preload`) and the like from the current directory. */
const NO_AUTOLOAD_FLAGS = ["dotenv", "bunfig", "tsconfig", "package-json"].map(
  (file) => `--no-compile-autoload-${file}`,
);

/** Compiles the executable for one machine. @throws Error if the compilation fails; Bun has printed why */
async function compile(outfile: string, packed: string, target?: string): Promise<void> {
  // Split, so that a command reads only the modules it loads; as bytecode, so that it need not parse them.
  const options = [
    "--compile",
    "--minify",
    "--splitting",
    "--bytecode",
    "--format=esm",
    "--sourcemap=none",
    ...NO_AUTOLOAD_FLAGS,
    `--outfile=${outfile}`,
  ];
  if (target) options.push(`--target=${target}`);
  const build = Bun.spawn([process.execPath, "build", ...options, ...ENTRY_POINTS, packed], {
    // Threads' modules are resolved relative to this directory.
    cwd: `${import.meta.dir}/..`,
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0) throw new Error(`${outfile} was not built: see Bun's output above`);
}

async function build({ target = [], outdir }: { target?: string[]; outdir: string }): Promise<void> {
  const packed = resolve(outdir, PACKED);
  await Bun.write(packed, packBundle(await bundleConsole(true)));
  await compileAll({ target, outdir, packed }).finally(() => rmSync(packed));
}

async function compileAll({ target, outdir, packed }: { target: string[]; outdir: string; packed: string }) {
  if (target.length === 0) return compile(resolve(outdir, "svc"), packed);
  const chosen = target.includes("all") ? TARGET_NAMES : [...new Set(target)];
  for (const name of chosen) {
    const ending = name.startsWith("windows") ? ".exe" : "";
    await compile(resolve(outdir, `svc-${name}${ending}`), packed, TARGETS[name]);
  }
}

await new Command("build")
  .description("Compile the executable, for this machine or for others.")
  .addOption(new Option("--target <names...>", "machines to compile for").choices([...TARGET_NAMES, "all"]))
  .option("--outdir <folder>", "where the files go", "dist")
  .addHelpText("after", "\nExample:\n  $ bun run build --target linux-x64-musl linux-arm64")
  .action(build)
  .parseAsync();
