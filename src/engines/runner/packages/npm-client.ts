import { join } from "node:path";
import type { Installer } from "../../languages/typescript/lock.ts";

/** Environment variables passed to the installer: registry, proxies and certificates. */
const INHERITED_VARIABLES =
  /^(npm_config_registry|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i;

/** Separates a registry's URL from its token in settings, as existing clients write them. */
const TOKEN_MARK = ":_authToken=";

/**
 * Returns this executable as the Bun CLI, with a shared install cache and without the server's environment and programs.
 * @param registry package registry; undefined: from the environment
 */
export function createInstaller(data_dir: string, registry: string | undefined): Installer {
  const directory = join(data_dir, "runner", "install");
  const cache = join(data_dir, "runner", "cache");
  const environment: Record<string, string> = {
    BUN_BE_BUN: "1",
    // It runs outside of the sandbox, and a package could have it start git on a repository of a script's making.
    PATH: "/nonexistent",
    HOME: directory,
    BUN_INSTALL_CACHE_DIR: cache,
    NO_COLOR: "1",
  };
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || !INHERITED_VARIABLES.test(name)) continue;
    if (registry === undefined || name.toLowerCase() !== "npm_config_registry") environment[name] = value;
  }
  if (registry !== undefined) {
    const [url = "", token] = registry.split(TOKEN_MARK);
    environment.npm_config_registry = url;
    if (token) environment.BUN_CONFIG_TOKEN = token;
  }
  return { command: [process.execPath], environment, directory, cache };
}
