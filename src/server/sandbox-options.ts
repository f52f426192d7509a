/** Parses the sandbox settings of the process. */
import { isAbsolute, resolve } from "node:path";
import { describeRootPlan } from "../engines/runner/sandbox/describe.ts";
import { isPathWithin, resolveLinks } from "../engines/runner/sandbox/isolation/paths.ts";
import { detectSandboxSupport } from "../engines/runner/sandbox/support.ts";
import { planUsers } from "../engines/runner/sandbox/users/child-users.ts";
import type { SandboxSettings } from "../engines/runner/types.ts";
import { BadRequest } from "../lib/errors.ts";
import type { Config } from "../platform/config/config.ts";

/** Upper bound of user ids, exclusive: this value itself means "none". */
const MAX_USER_ID = 4_294_967_295;

/**
 * Parses the sandbox settings of the process.
 * @throws BadRequest for an invalid folder or port, or a folder that exposes the data directory
 */
export function parseSandboxSettings(config: Config): SandboxSettings {
  const ports = splitList(config.sandbox_ports).map(Number);
  const wrong = ports.find((port) => !(Number.isInteger(port) && port >= 1 && port <= 65_535));
  if (wrong !== undefined) {
    throw new BadRequest(`SVC_SANDBOX_PORTS=${config.sandbox_ports}: must be port numbers, such as 443,5432`);
  }
  const write = parseFolders("SVC_SANDBOX_WRITE", config.sandbox_write);
  const data_dir = resolveLinks(config.data_dir);
  for (const folder of write) {
    const real = resolveLinks(folder);
    if (!isPathWithin(data_dir, real) && !isPathWithin(real, data_dir)) continue;
    const problem = `scripts would reach the data directory ${config.data_dir} through it`;
    throw new BadRequest(
      `SVC_SANDBOX_WRITE=${config.sandbox_write}: ${folder} cannot be made writable, ${problem}`,
    );
  }
  return {
    mode: config.sandbox as SandboxSettings["mode"],
    read: parseFolders("SVC_SANDBOX_READ", config.sandbox_read),
    write,
    ports: ports.length > 0 ? ports : undefined,
    user_ids: parseUserIds(config.job_uids),
  };
}

function parseUserIds(text: string): SandboxSettings["user_ids"] {
  if (text === "" || text === "off") return text || undefined;
  const [first = 0, last = 0] = /^\d+-\d+$/.test(text) ? text.split("-").map(Number) : [];
  if (first > 0 && first < last && last < MAX_USER_ID) return { first, last };
  throw new BadRequest(`SVC_JOB_UIDS=${text}: must be a range of user ids such as 200000-204095, or off`);
}

function parseFolders(variable: string, text: string): string[] {
  const folders = splitList(text);
  const wrong = folders.find((folder) => !isAbsolute(folder));
  if (wrong !== undefined) throw new BadRequest(`${variable}=${text}: ${wrong} must be an absolute path`);
  return folders.map((folder) => resolve(folder));
}

function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Like `describeRootPlan`, for a server with these settings; undefined if it does not run as root. */
export function describeRootSandbox(config: Config): string | undefined {
  const plan = planUsers(parseSandboxSettings(config), config.data_dir, detectSandboxSupport());
  return plan && describeRootPlan(plan);
}
