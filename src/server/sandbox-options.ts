/** The settings of the process that speak of the sandbox, as the runner takes them. */
import { isAbsolute, resolve } from "node:path";
import { whatRootDoes } from "../engines/runner/sandbox/summary.ts";
import { sandboxSupport } from "../engines/runner/sandbox/support.ts";
import { planUsers } from "../engines/runner/sandbox/users/child-users.ts";
import { isWithin, withoutLinks } from "../engines/runner/sandbox/walls/paths.ts";
import type { SandboxChoice } from "../engines/runner/types.ts";
import { BadRequest } from "../lib/errors.ts";
import type { Config } from "../platform/config/config.ts";

/** The system has no greater ones; the last says "none". */
const MAX_USER_ID = 4_294_967_295;

/** @throws BadRequest when a folder or a port is none, or a folder would let scripts at the data directory */
export function sandboxOf(config: Config): SandboxChoice {
  const ports = listOf(config.sandbox_ports).map(Number);
  const wrong = ports.find((port) => !(Number.isInteger(port) && port >= 1 && port <= 65_535));
  if (wrong !== undefined) {
    throw new BadRequest(`SVC_SANDBOX_PORTS=${config.sandbox_ports}: must be port numbers, such as 443,5432`);
  }
  const write = foldersOf("SVC_SANDBOX_WRITE", config.sandbox_write);
  const data_dir = withoutLinks(config.data_dir);
  for (const folder of write) {
    const real = withoutLinks(folder);
    if (!isWithin(data_dir, real) && !isWithin(real, data_dir)) continue;
    const problem = `scripts would reach the data directory ${config.data_dir} through it`;
    throw new BadRequest(`SVC_SANDBOX_WRITE=${config.sandbox_write}: ${folder} cannot be given, ${problem}`);
  }
  return {
    mode: config.sandbox as SandboxChoice["mode"],
    read: foldersOf("SVC_SANDBOX_READ", config.sandbox_read),
    write,
    ports: ports.length > 0 ? ports : undefined,
    user_ids: userIdsOf(config.job_uids),
  };
}

function userIdsOf(text: string): SandboxChoice["user_ids"] {
  if (text === "" || text === "off") return text || undefined;
  const [first = 0, last = 0] = /^\d+-\d+$/.test(text) ? text.split("-").map(Number) : [];
  if (first > 0 && first < last && last < MAX_USER_ID) return { first, last };
  throw new BadRequest(`SVC_JOB_UIDS=${text}: must be a range of user ids such as 200000-204095, or off`);
}

function foldersOf(variable: string, text: string): string[] {
  const folders = listOf(text);
  const wrong = folders.find((folder) => !isAbsolute(folder));
  if (wrong !== undefined) throw new BadRequest(`${variable}=${text}: ${wrong} must be an absolute path`);
  return folders.map((folder) => resolve(folder));
}

function listOf(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** As `whatRootDoes`, for a server with these settings; undefined where it is not the superuser. */
export function aboutRoot(config: Config): string | undefined {
  const plan = planUsers(sandboxOf(config), config.data_dir, sandboxSupport());
  return plan && whatRootDoes(plan);
}
