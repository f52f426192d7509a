/** Packages of Ruby scripts: locked and installed by Bundler, as the block `gemfile` of a script says. */
import type { PackageFolder } from "./types.ts";

/** Where gems come from unless the block names a source. */
const DEFAULT_SOURCE = 'source "https://rubygems.org"';
/** A lock that names another version of Bundler makes it install that one first. */
const BUNDLED_WITH = /^BUNDLED WITH\n.*\n?/m;

/** Matches the first line of the block. */
const BLOCK = /^([ \t]*)gemfile\b.*\bdo[ \t]*(?:#[^\n]*)?$/;

/** Returns the lines of a script's block `gemfile`, without comments; undefined if there is none. */
export function readGemfileBlock(content: string): string | undefined {
  const lines = content.split("\n");
  const start = lines.findIndex((line) => BLOCK.test(line));
  if (start < 0) return undefined;
  const indent = BLOCK.exec(lines[start]!)![1]!;
  // The end is indented as the beginning.
  const isEnd = (line: string) =>
    line.startsWith(`${indent}end`) && !/^\w/.test(line.slice(indent.length + 3));
  const end = lines.findIndex((line, at) => at > start && isEnd(line));
  if (end < 0) return undefined;
  const block = lines.slice(start + 1, end).map((line) => line.trim());
  return block.filter((line) => line !== "" && !line.startsWith("#")).join("\n");
}

const inFolder = (command: string) => `cd made && exec "$0" "$@" ${command}`;

export const bundlerPackages: PackageFolder = {
  tool: "bundle",
  install: "install Bundler (Debian: ruby-bundler)",
  // Building a gem runs code of its author, which reads all of this.
  inherited: /^(SSL_CERT_(?:FILE|DIR)|BUNDLE_(MIRROR__.+|SSL_CA_CERT|RETRY|TIMEOUT))$/,
  environment: () => ({
    BUNDLE_SILENCE_ROOT_WARNING: "1",
    BUNDLE_DISABLE_VERSION_CHECK: "1",
    BUNDLE_GLOBAL_GEM_CACHE: "false",
    BUNDLE_PATH: "bundle",
  }),
  toManifest(content) {
    const block = readGemfileBlock(content) ?? "";
    return /^source\b/m.test(block) ? `${block}\n` : `${DEFAULT_SOURCE}\n${block}\n`;
  },
  lock: {
    files: (manifest) => ({ "made/Gemfile": manifest }),
    command: (client, ruby) => ["/bin/sh", "-c", inFolder("lock"), ruby, client],
    results: ["made/Gemfile.lock"],
    toText: ([lock]) => lock!.replace(BUNDLED_WITH, "").trimEnd(),
  },
  folder: "bundle",
  files: (manifest, lock) => ({
    "made/Gemfile": manifest,
    ...(lock && { "made/Gemfile.lock": `${lock.replace(BUNDLED_WITH, "").trimEnd()}\n` }),
  }),
  // The file that it writes beside the gems adds them to the load path, without Bundler.
  command: (client, ruby) => ["/bin/sh", "-c", inFolder("install --standalone --quiet"), ruby, client],
};
