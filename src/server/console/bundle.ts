/**
 * The console's client bundle: built by Bun from `src/console` with content hashes in file names, and precompressed.
 * `bun run build` packs it into one file that is embedded in the executable.
 */
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** Source directory; only exists in a checkout. */
export const CONSOLE_SOURCES = join(import.meta.dir, "../../console");

export interface ConsoleFile {
  type: string;
  gzip: Uint8Array<ArrayBuffer>;
  brotli: Uint8Array<ArrayBuffer>;
}

export interface ConsoleBundle {
  /** File names of the entry point, its style sheets and the favicon. */
  script: string;
  styles: string[];
  icon: string;
  files: Map<string, ConsoleFile>;
}

/** Header of the packed file: its first line, as JSON. */
interface Contents {
  script: string;
  styles: string[];
  icon: string;
  files: { name: string; type: string; gzip: number; brotli: number }[];
}

/** @rjsf/core imports this validator for its own tests. It needs `eval` and is not installed. */
const WITHOUT_AJV = {
  name: "without ajv",
  setup(build: Bun.PluginBuilder) {
    build.onResolve({ filter: /^@rjsf\/validator-ajv8$/ }, () => ({ path: "none", namespace: "none" }));
    build.onLoad({ filter: /.*/, namespace: "none" }, () => ({
      contents: "export default {}",
      loader: "js",
    }));
  },
};

/**
 * Builds the console from its sources.
 * @param thorough uses the highest compression levels, for releases
 * @throws AggregateError with the build errors
 */
export async function bundleConsole(thorough: boolean): Promise<ConsoleBundle> {
  const { outputs } = await Bun.build({
    entrypoints: [join(CONSOLE_SOURCES, "main.tsx")],
    target: "browser",
    splitting: true,
    minify: true,
    naming: "[name]-[hash].[ext]",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [WITHOUT_AJV],
  });
  const bundle: ConsoleBundle = { script: "", styles: [], icon: "", files: new Map() };
  for (const output of outputs) {
    const name = output.path.replace(/^\.?\//, "");
    if (output.kind === "entry-point") bundle.script = name;
    else if (name.endsWith(".css")) bundle.styles.push(name);
    else if (name.startsWith("icon-")) bundle.icon = name;
    const bytes = new Uint8Array(await output.arrayBuffer());
    bundle.files.set(name, {
      type: output.type,
      gzip: Bun.gzipSync(bytes, { level: thorough ? 9 : 1 }),
      brotli: compress(bytes, thorough ? 11 : 2),
    });
  }
  return bundle;
}

function compress(bytes: Uint8Array, quality: number): Uint8Array<ArrayBuffer> {
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
  return new Uint8Array(brotliCompressSync(bytes, options));
}

/** Serializes a bundle: a JSON header line, then the bytes of each file. */
export function packBundle({ files, ...first }: ConsoleBundle): Blob {
  const contents: Contents = { ...first, files: [] };
  const bytes: Uint8Array<ArrayBuffer>[] = [];
  for (const [name, { type, gzip, brotli }] of files) {
    contents.files.push({ name, type, gzip: gzip.length, brotli: brotli.length });
    bytes.push(gzip, brotli);
  }
  return new Blob([`${JSON.stringify(contents)}\n`, ...bytes]);
}

export async function unpackBundle(packed: Blob): Promise<ConsoleBundle> {
  const bytes = new Uint8Array(await packed.arrayBuffer());
  let at = bytes.indexOf(0x0a);
  const { files, ...first } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, at))) as Contents;
  at++;
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  const unpacked = files.map(({ name, type, gzip, brotli }): [string, ConsoleFile] => [
    name,
    { type, gzip: take(gzip), brotli: take(brotli) },
  ]);
  return { ...first, files: new Map(unpacked) };
}
