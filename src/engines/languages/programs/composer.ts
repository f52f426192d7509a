/** Packages of PHP scripts: locked and installed by Composer, without their scripts and plugins. */
import { parseJson } from "../../../lib/json/json.ts";
import { removeUrlCredentials } from "../../../lib/text/url-credentials.ts";
import type { PackageFolder } from "./types.ts";

/** The packages' own programs and Composer's plugins run no code while packages are installed. */
const OPTIONS = "--no-interaction --no-progress --no-plugins --no-scripts --no-dev --prefer-dist";
/** Where Composer looks for its settings, below its working folder. */
const HOME = ".config/composer";

const inFolder = (folder: string, command: string) =>
  `export COMPOSER_HOME="$PWD/${HOME}" && cd ${folder} && exec "$0" "$@" ${command} ${OPTIONS}`;

/** Matches a line of the list of packages: `vendor/name`, and its version after `@`, `:` or spaces. */
const PACKAGE = /^\/\/\s*(?:-\s*)?(?<name>[a-z0-9][\w.-]*\/[\w.-]+)(?:[@: \t][ \t]*(?<version>\S.*))?$/i;

/** Lists the packages in the comment `// require:` of a script. */
export function listPhpPackages(content: string): { name: string; version: string }[] {
  const list = /^\/\/\s*require:\s*\n((?:\/\/.*\n?)*)/m.exec(content)?.[1] ?? "";
  const lines = list.split("\n").map((line) => PACKAGE.exec(line.trimEnd()));
  return lines
    .filter((line) => line !== null)
    .map(({ groups }) => ({
      name: groups!.name!.toLowerCase(),
      version: groups!.version ?? "*",
    }));
}

export const composerPackages: PackageFolder = {
  tool: "composer",
  install: "install Composer (Debian: composer)",
  advice:
    /^(Loading |Updating |Info from |Your requirements could not|Problem \d|Potential causes|- A typo|- The package is not available|see <|- It's a private|Read <|Running update with)/,
  inherited: /^(SSL_CERT_(?:FILE|DIR)|COMPOSER_(CAFILE|CAPATH|DISABLE_NETWORK|IPRESOLVE|PROCESS_TIMEOUT))$/,
  settings: {
    variable: "COMPOSER_HOME",
    folder: HOME,
    file: "config.json",
    toPublic: toPublicSettings,
  },
  environment: () => ({
    COMPOSER_ALLOW_SUPERUSER: "1",
    COMPOSER_CACHE_DIR: "/dev/null",
    // Links to a folder of the server would point outside the sandbox.
    COMPOSER_MIRROR_PATH_REPOS: "1",
    COMPOSER_NO_AUDIT: "1",
  }),
  toManifest(content) {
    const listed = listPhpPackages(content).sort((a, b) => (a.name < b.name ? -1 : 1));
    const require = Object.fromEntries(listed.map(({ name, version }) => [name, version]));
    return `${JSON.stringify({ require }, null, 2)}\n`;
  },
  lock: {
    files: (manifest) => ({ "made/composer.json": manifest }),
    command: (client, php) => ["/bin/sh", "-c", inFolder("made", "update --no-install"), php, client],
    results: ["made/composer.lock"],
    toText: ([lock]) => lock!,
  },
  folder: "vendor",
  files: (manifest, lock) => ({
    "made/composer.json": manifest,
    ...(lock && { "made/composer.lock": lock }),
  }),
  command: (client, php) => ["/bin/sh", "-c", inFolder("made", "install"), php, client],
};

const CONFIG_KEYS = [
  "secure-http",
  "disable-tls",
  "cafile",
  "capath",
  "platform",
  "preferred-install",
  "process-timeout",
];

interface Settings {
  repositories?: unknown;
  config?: Record<string, unknown>;
}

/** Returns the settings that say where packages come from: without tokens, and users in URLs. @throws SyntaxError */
function toPublicSettings(text: string): string {
  const { repositories, config = {} } = parseJson(text) as Settings;
  const kept = Object.entries(config).filter(([name]) => CONFIG_KEYS.includes(name));
  return JSON.stringify({
    repositories: toPublicRepositories(repositories),
    config: Object.fromEntries(kept),
  });
}

/** Keeps the type and the URL of each repository, and which of Composer's own are switched off (`false`). */
function toPublicRepositories(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(toPublicRepository);
  if (typeof given !== "object" || given === null) return undefined;
  return Object.fromEntries(Object.entries(given).map(([name, each]) => [name, toPublicRepository(each)]));
}

function toPublicRepository(given: unknown): unknown {
  if (typeof given !== "object" || given === null) return given === false ? false : {};
  const { type, url, canonical, only, exclude, ...others } = given as Record<string, unknown>;
  const off = Object.entries(others).filter(([, value]) => value === false);
  if (type === undefined && url === undefined && off.length > 0) return Object.fromEntries(off);
  return { type, url: typeof url === "string" ? removeUrlCredentials(url) : url, canonical, only, exclude };
}
