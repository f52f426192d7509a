import { join } from "node:path";
import type { Installer } from "../../languages/typescript/lock.ts";

/** Settings of the package client that reach the installer: where the registry is, and how to get there. */
const PASSED_ON = /^(npm_config_registry|https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_file)$/i;

/** What stands between a registry's URL and its token, as existing clients write both in one text. */
const TOKEN_MARK = ":_authToken=";

/**
 * This executable as the Bun CLI, with a cache shared by all installs and nothing of the server's environment.
 * @param registry where packages are installed from; undefined: what the environment says
 */
export function installer(data_dir: string, registry: string | undefined): Installer {
  const directory = join(data_dir, "runner", "install");
  const environment: Record<string, string> = {
    BUN_BE_BUN: "1",
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: directory,
    BUN_INSTALL_CACHE_DIR: join(data_dir, "runner", "cache"),
    NO_COLOR: "1",
  };
  for (const [name, value] of Object.entries(process.env)) {
    if (value === undefined || !PASSED_ON.test(name)) continue;
    if (registry === undefined || name.toLowerCase() !== "npm_config_registry") environment[name] = value;
  }
  if (registry !== undefined) {
    const [url = "", token] = registry.split(TOKEN_MARK);
    environment.npm_config_registry = url;
    if (token) environment.BUN_CONFIG_TOKEN = token;
  }
  return { command: [process.execPath], environment, directory };
}
