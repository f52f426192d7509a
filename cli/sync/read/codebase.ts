/**
 * Codebases of `wmill.yaml`: scripts that import packages, and files of the folder that are not scripts of the
 * workspace. Each script is deployed with a bundle of everything that it imports; the bundle runs instead of the
 * script.
 */
import { basename, join } from "node:path";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import type { Codebase } from "./folder-settings.ts";
import { type Fields, filterStrings } from "./items.ts";

/** Files with metadata of scripts, which a pull writes and no code imports. */
const DESCRIPTION = /\.script\.(?:yaml|json|lock)$/;
/** Macros would run during bundling, and other members of the workspace may have written them. */
export const NO_MACROS = { macros: false };
/** Options that other clients support and this bundler does not. */
const UNSUPPORTED = ["customBundler", "inject", "assets"] as const;

/** Returns the digest of a codebase's files and options; if it changes, all of its scripts count as changed. */
export async function digestCodebase(root: string, { path, options }: Codebase): Promise<string> {
  const folder = join(root, path);
  const names: string[] = [];
  for await (const name of new Bun.Glob("**/*").scan({ cwd: folder })) {
    if (!/(^|\/)node_modules\//.test(name) && !DESCRIPTION.test(name)) names.push(name);
  }
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(options));
  for (const name of names.sort()) {
    hash.update(`\0${name}\0`).update(await Bun.file(join(folder, name)).bytes());
  }
  return `${hash.digest("hex")}.esm`;
}

/** Bundles a script. @throws CliError with the bundler's messages, or for unsupported options */
export async function bundleScript(root: string, source: string, { options }: Codebase): Promise<string> {
  for (const name of UNSUPPORTED) {
    const value = options[name];
    if (value && !(Array.isArray(value) && value.length === 0)) {
      throw createUsageError(`the codebase of ${source} has the option ${name}, which only wmill has`);
    }
  }
  const built = await Bun.build({
    entrypoints: [join(root, source)],
    root,
    target: "node",
    format: "esm",
    throw: false,
    external: filterStrings(options.external),
    define: toTexts(options.define),
    loader: toTexts(options.loader) as Record<string, Bun.Loader>,
    banner: String((options.banner as Fields | undefined)?.js ?? ""),
    ...NO_MACROS,
  });
  if (!built.success) {
    throw new CliError("BundleError", `${source} could not be bundled: ${listBundleErrors(built)}`, {
      hint: "install the packages that it imports: npm install, in the folder of its package.json",
    });
  }
  const [bundle, ...others] = built.outputs;
  const files = others.map(({ path }) => basename(path));
  if (files.length > 0) {
    throw createUsageError(`${source} imports files that are not code: ${files.join(", ")}`);
  }
  return bundle!.text();
}

/** Returns the bundler's messages in one line. */
export const listBundleErrors = ({ logs }: Pick<Bun.BuildOutput, "logs">): string =>
  logs
    .filter(({ level }) => level === "error")
    .map(String)
    .join("; ");

const toTexts = (value: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries((value ?? {}) as Fields).map(([name, text]) => [name, String(text)]));
