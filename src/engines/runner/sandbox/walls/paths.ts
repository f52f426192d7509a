/** What of the machine scripts may read, as paths. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Programs, their libraries and what these read. */
const SYSTEM = [
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

/** The superuser reads every file: of this folder, where it keeps what others may not, scripts then see these. */
const ETC = [
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

/** Facts about the machine that are nobody's own; of the processes' entries a child sees its own. */
const PROC = [
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
 * Every folder and file of the system that scripts may read, where it exists.
 * @param passesRights they run as the superuser, or with its right to read every file
 */
export function systemPaths(passesRights: boolean): string[] {
  const found = [...SYSTEM, ...(passesRights ? ETC : ["/etc"]), ...PROC].filter((path) => existsSync(path));
  // A resolver's file is often a link to where a service of the system keeps it, and replaces it.
  const resolver = existsSync("/etc/resolv.conf") ? realpathSync("/etc/resolv.conf") : "/etc/resolv.conf";
  return resolver.startsWith("/etc/") ? found : [...found, dirname(resolver)];
}

/** Whether a path is a folder, or in it. Both without links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** A folder as it is, but for one in it: paths that cover everything else that is there now. */
export function around(folder: string, hole: string): string[] {
  if (!isWithin(hole, folder)) return isWithin(folder, hole) ? [] : [folder];
  if (hole === folder) return [];
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return isWithin(hole, path) ? around(path, hole) : [path];
  });
}

/** A path without links; as it is when nothing is there. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
