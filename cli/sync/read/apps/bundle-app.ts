/** Builds the page of an app of code: one script and one style sheet with everything that its entry point imports. */
import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { BunPlugin } from "bun";
import { parseSchemaJson } from "../../../../src/lib/json/json.ts";
import { CliError } from "../../../terminal/text/failure.ts";
import { printNote, toOneLine } from "../../../terminal/text/output.ts";
import { listBundleErrors, NO_MACROS } from "../codebase.ts";
import type { AppBundle, Fields } from "../items.ts";
import { PAGE_CLIENT } from "./page-client.ts";

/**
 * Builds the app in a folder. Installs its packages first if they are missing.
 * @throws CliError with the messages of the installer or bundler
 */
export async function bundleApp(folder: string, name: string): Promise<AppBundle> {
  const packages = await readPackages(folder);
  const isSvelte = "svelte" in packages;
  const entry = isSvelte || "vue" in packages ? "index.ts" : "index.tsx";
  if (!(await Bun.file(join(folder, entry)).exists())) {
    throw new CliError(
      "BundleError",
      `${name} could not be built: it has no ${entry}, where its page starts`,
    );
  }
  const isInstalled = existsSync(join(folder, "node_modules"));
  if (Object.keys(packages).length > 0 && !isInstalled) await installPackages(folder, name);
  const built = await Bun.build({
    entrypoints: [join(folder, entry)],
    root: folder,
    target: "browser",
    format: "iife",
    minify: true,
    throw: false,
    env: "disable",
    define: { "process.env.NODE_ENV": '"production"' },
    conditions: ["style", "module", ...(isSvelte ? ["svelte"] : [])],
    plugins: [wmillModule, ...(isSvelte ? [createSveltePlugin(folder)] : [])],
    ...NO_MACROS,
  });
  if (!built.success) {
    throw new CliError("BundleError", `${name} could not be built: ${listBundleErrors(built)}`, {
      hint: `install the packages that it imports: bun install, or npm install, in ${name}`,
    });
  }
  const texts = { js: "", css: "" };
  for (const output of built.outputs) {
    const ending = /\.(js|css)$/.exec(output.path)?.[1] as "js" | "css" | undefined;
    if (!ending) throw new CliError("BundleError", `${name} imports a file that is not code: ${output.path}`);
    texts[ending] += await output.text();
  }
  return texts;
}

async function readPackages(folder: string): Promise<Fields> {
  const file = Bun.file(join(folder, "package.json"));
  if (!(await file.exists())) return {};
  try {
    const { dependencies, devDependencies } = parseSchemaJson(await file.text()) as Record<string, Fields>;
    return { ...dependencies, ...devDependencies };
  } catch {
    // The bundler describes what is wrong with it.
    return {};
  }
}

const LOCKS = ["bun.lock", "bun.lockb", "package-lock.json"];

/** Installs the packages of the lock; if that fails, those of `package.json`. */
async function installPackages(folder: string, name: string): Promise<void> {
  const place = mkdtempSync(join(folder, ".install-"));
  try {
    for (const file of ["package.json", ...LOCKS]) {
      if (existsSync(join(folder, file))) copyFileSync(join(folder, file), join(place, file));
    }
    let reasons = await runInstaller(place);
    const locks = LOCKS.filter((file) => existsSync(join(place, file)));
    if (reasons && locks.length > 0) {
      for (const file of locks) rmSync(join(place, file));
      const first = reasons;
      reasons = await runInstaller(place);
      if (!reasons)
        printNote(toOneLine(`warning: ${name} is built with other packages than its lock: ${first}`));
    }
    if (reasons) {
      throw new CliError("BundleError", `the packages of ${name} could not be installed: ${reasons}`, {
        hint: "check its package.json, and that the registry can be reached",
      });
    }
    renameSync(join(place, "node_modules"), join(folder, "node_modules"));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * Installs packages with this executable as the Bun CLI, without running their install scripts.
 * @returns the reason of a failure; empty on success
 */
async function runInstaller(cwd: string): Promise<string> {
  const options = ["--ignore-scripts", "--no-save", "--no-progress", "--no-summary"];
  const installer = Bun.spawn([process.execPath, "install", ...options], {
    cwd,
    env: { ...process.env, BUN_BE_BUN: "1", NO_COLOR: "1" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [said, code] = await Promise.all([installer.stderr.text(), installer.exited]);
  if (code === 0) return "";
  return said.match(/(?<=^error: ).*$/gm)?.join("; ") ?? said.trim().slice(-500);
}

/** The page's access to its backend; it replaces any file of that name. */
const wmillModule: BunPlugin = {
  name: "wmill",
  setup(build) {
    build.onResolve({ filter: /^(?:(?:\.\.\/)+|\.?\/)?wmill(?:\.ts)?$/ }, () => ({
      path: "wmill",
      namespace: "page-client",
    }));
    build.onLoad({ filter: /./, namespace: "page-client" }, () => ({ contents: PAGE_CLIENT, loader: "js" }));
  },
};

interface SvelteCompiler {
  compile(source: string, options: object): { js: { code: string } };
  compileModule(source: string, options: object): { js: { code: string } };
}

/** Compiles components with the app's own version of Svelte. */
function createSveltePlugin(folder: string): BunPlugin {
  // An executable cannot import packages with further imports; loaded by `require`, this one is a single file.
  const load = (): SvelteCompiler => createRequire(join(folder, "package.json"))("svelte/compiler");
  return {
    name: "svelte",
    setup(build) {
      build.onLoad({ filter: /\.svelte$/ }, async ({ path: filename }) => {
        const { compile } = load();
        const { js } = compile(await Bun.file(filename).text(), { filename, css: "injected" });
        return { contents: js.code, loader: "js" };
      });
      build.onLoad({ filter: /\.svelte\.[jt]s$/ }, async ({ path: filename }) => {
        const { compileModule } = load();
        const code = new Bun.Transpiler({ loader: "ts" }).transformSync(await Bun.file(filename).text());
        return { contents: compileModule(code, { filename }).js.code, loader: "js" };
      });
    },
  };
}
