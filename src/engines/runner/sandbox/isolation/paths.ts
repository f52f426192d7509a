/** System paths that scripts may read. */
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Programs, libraries and their data. */
const SYSTEM_PATHS = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/nix/store",
  "/sys/devices/system/cpu",
  "/sys/fs/cgroup",
];

/** Files of /etc visible to scripts that run as root, which could read all of it. */
const ETC_PATHS = [
  "alpine-release",
  "alternatives",
  "arch-release",
  "bash.bashrc",
  "ca-certificates",
  "crypto-policies",
  "debian_version",
  "fonts",
  "gai.conf",
  "gitconfig",
  "group",
  "host.conf",
  "hostname",
  "hosts",
  "inputrc",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "locale.alias",
  "localtime",
  "lsb-release",
  "magic",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "passwd",
  "pki/ca-trust",
  "pki/tls/certs",
  "pki/tls/cert.pem",
  "pki/tls/openssl.cnf",
  "profile",
  "profile.d",
  "protocols",
  "redhat-release",
  "resolv.conf",
  "services",
  "shells",
  "ssl/certs",
  "ssl/cert.pem",
  "ssl/openssl.cnf",
  "system-release",
  "terminfo",
  "timezone",
  "vimrc",
].map((name) => `/etc/${name}`);

/** General facts about the machine; of the process entries, a child sees its own. */
const PROC_PATHS = [
  "cpuinfo",
  "filesystems",
  "loadavg",
  "meminfo",
  "stat",
  "sys/kernel/cap_last_cap",
  "sys/kernel/hostname",
  "sys/kernel/osrelease",
  "sys/kernel/ostype",
  "sys/kernel/pid_max",
  "sys/kernel/random",
  "sys/kernel/threads-max",
  "sys/kernel/version",
  "sys/net/core/somaxconn",
  "sys/vm/max_map_count",
  "sys/vm/mmap_min_addr",
  "sys/vm/overcommit_memory",
  "uptime",
  "version",
].map((name) => `/proc/${name}`);

export const DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/**
 * Lists the existing system folders and files that scripts may read.
 * @param passesRights scripts run as root, or bypass file permissions
 */
export function listSystemPaths(passesRights: boolean): string[] {
  const found = [...SYSTEM_PATHS, ...(passesRights ? ETC_PATHS : ["/etc"]), ...PROC_PATHS].filter((path) =>
    existsSync(path),
  );
  // The resolver's file is often a link to a file that a system service replaces.
  const resolver = existsSync("/etc/resolv.conf") ? realpathSync("/etc/resolv.conf") : "/etc/resolv.conf";
  return resolver.startsWith("/etc/") ? found : [...found, dirname(resolver)];
}

/** Whether a path is a folder or inside it; both without symbolic links. */
export function isPathWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Returns paths that cover a folder's current content except for one path. */
export function listPathsAround(folder: string, hole: string): string[] {
  if (!isPathWithin(hole, folder)) return isPathWithin(folder, hole) ? [] : [folder];
  if (hole === folder) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return isPathWithin(hole, path) ? listPathsAround(path, hole) : [path];
  });
}

/** Maximum number of symbolic links in a path, as in the kernel. */
const MAX_LINKS = 40;

/** Lists the ways to write a path: as it is given, with its first link followed, and so on to the one without links. */
export function listSpellings(path: string): string[] {
  const found = [path];
  for (let next = followFirstLink(path); next !== undefined && found.length <= MAX_LINKS; ) {
    found.push(next);
    next = followFirstLink(next);
  }
  return [...found, resolveLinks(path)];
}

function followFirstLink(path: string): string | undefined {
  const names = path.split("/").slice(1);
  let folder = "/";
  for (const [nth, name] of names.entries()) {
    const at = join(folder, name);
    const target = readLink(at);
    if (target !== undefined) return resolve(folder, target, ...names.slice(nth + 1));
    folder = at;
  }
  return undefined;
}

/** Returns where a symbolic link leads to; undefined for anything else. */
function readLink(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves symbolic links; returns the path unchanged if it does not exist. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
