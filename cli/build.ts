/**
 * Compiles the executable: `bun run build` for this machine, `bun run build --target linux-arm64` for another one, as
 * often as it is said, `--target all` for every one there is. The runtimes of other machines are fetched by Bun, in its
 * own version, and kept in its cache.
 */
import { resolve } from "node:path";
import { Command, Option } from "commander";

/**
 * By the names the files carry: what Bun calls each. There is none for older x64 processors beside the usual one: in this
 * version of Bun the two (`baseline`) are the same bytes.
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

const NAMES = Object.keys(TARGETS);

/** The program, and what it runs in threads of its own. */
const ENTRIES = [
  "cli/main.ts",
  "src/engines/expressions/sandbox/thread.ts",
  "src/engines/languages/reading/analysis-thread.ts",
];

/**
 * What stands in the folder it is started in is no part of the program: by default it would run the `preload` of a
 * `bunfig.toml` there, and take settings from an `.env`.
 */
const ALONE = ["dotenv", "bunfig", "tsconfig", "package-json"].map((file) => `--no-compile-autoload-${file}`);

/** @throws Error when Bun does not compile it; it has said why */
async function compile(outfile: string, target?: string): Promise<void> {
  // Split, so that a command parses only the modules it loads.
  const options = [
    "--compile",
    "--minify",
    "--splitting",
    "--sourcemap=none",
    ...ALONE,
    `--outfile=${outfile}`,
  ];
  if (target) options.push(`--target=${target}`);
  const build = Bun.spawn([process.execPath, "build", ...options, ...ENTRIES], {
    // What runs in threads is found by its path from here.
    cwd: `${import.meta.dir}/..`,
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0) throw new Error(`${outfile} was not built: what Bun says above is why`);
}

async function build({ target = [], outdir }: { target?: string[]; outdir: string }): Promise<void> {
  if (target.length === 0) return compile(resolve(outdir, "svc"));
  const chosen = target.includes("all") ? NAMES : [...new Set(target)];
  for (const name of chosen) {
    const ending = name.startsWith("windows") ? ".exe" : "";
    await compile(resolve(outdir, `svc-${name}${ending}`), TARGETS[name]);
  }
}

await new Command("build")
  .description("Compile the executable, for this machine or for others.")
  .addOption(new Option("--target <names...>", "machines to compile for").choices([...NAMES, "all"]))
  .option("--outdir <folder>", "where the files go", "dist")
  .addHelpText("after", "\nExample:\n  $ bun run build --target linux-x64-musl linux-arm64")
  .action(build)
  .parseAsync();
