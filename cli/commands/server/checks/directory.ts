/** The data directory: who can read it, how much room there is, and whether its clock is ours. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { loadInstanceKey } from "../../../../src/lib/crypto/instance-key.ts";
import { privateFiles } from "../../../../src/lib/files/private-files.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import { type Finding, fail, ok, sized, warn } from "./finding.ts";

const LOW = 2_000_000_000;
const VERY_LOW = 200_000_000;
/** Some network file systems lock files for one machine only, and flush when they like (statfs(2)). */
const NETWORK = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
]);
const SKEW_MS = 60_000;
/** Nothing was made before this program: a clock that says so was never set. */
const EARLIEST = Date.UTC(2025, 0, 1);

export function checkDirectory(config: Config): Finding[] {
  const { data_dir } = config;
  const stats = existsSync(data_dir) ? statSync(data_dir) : undefined;
  if (!stats) {
    const parent = nearest(data_dir);
    const writable = canWrite(parent);
    return [
      writable
        ? ok("data directory", `${data_dir} does not exist yet: svc serve makes it`)
        : fail(
            "data directory",
            `${data_dir} cannot be made in ${parent}`,
            "make it, owned by the server's user",
          ),
      ...checkDisk(parent),
    ];
  }
  if (!stats.isDirectory())
    return [fail("data directory", `${data_dir} is no folder`, "choose another --data-dir")];
  return [
    ofFolder(data_dir, stats),
    ...ofFiles(data_dir),
    ofKey(config),
    ...checkDisk(data_dir),
    checkClock(data_dir),
  ];
}

function ofFolder(path: string, stats: Stats): Finding {
  const me = process.getuid?.();
  if (!canWrite(path)) {
    return fail(
      "data directory",
      `${path} cannot be written by this user`,
      `chown it to the server's user (${me})`,
    );
  }
  // Scripts of a server that is root pass through with the group of their user ids.
  const allowed = me === 0 ? 0o010 : 0;
  if (stats.mode & 0o077 & ~allowed) {
    const advice = `chmod 700 ${path}`;
    return warn("data directory", `${path} is open to other users (mode ${modeOf(stats)})`, advice);
  }
  return ok("data directory", `${path} is yours alone`);
}

function ofFiles(data_dir: string): Finding[] {
  const open = privateFiles(data_dir).flatMap(([path]) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats && (stats.mode & 0o077) !== 0 ? [path] : [];
  });
  if (open.length === 0) return [ok("files", "are readable by their owner alone")];
  const advice = `chmod 600 ${open.join(" ")}`;
  const names = open.map((path) => basename(path));
  const says = `${names.join(", ")}: other users may read`;
  return [names.includes("instance.key") ? fail("files", says, advice) : warn("files", says, advice)];
}

function ofKey({ data_dir, secret_key, database_url }: Config): Finding {
  const check = "instance key";
  if (secret_key) return ok(check, "is SVC_SECRET_KEY");
  const hasData = database_url !== undefined || existsSync(join(data_dir, "svc.db"));
  if (!existsSync(join(data_dir, "instance.key"))) {
    if (!hasData) return ok(check, "is made at the first start");
    const advice =
      "put instance.key back from where you keep it: a new one is made at the next start otherwise";
    return warn(check, "is missing beside a database: its secrets cannot be read", advice);
  }
  try {
    loadInstanceKey(data_dir, undefined);
    return ok(check, "is there; keep a copy of instance.key elsewhere");
  } catch (cause) {
    return fail(check, (cause as Error).message, "put the right instance.key back");
  }
}

function checkDisk(path: string): Finding[] {
  const { bavail, bsize, type, ffree, files } = statfsSync(path);
  const free = bavail * bsize;
  const advice = "free some space, lower JOB_RETENTION_SECS, or move the data directory";
  const findings = [
    free < VERY_LOW
      ? fail("disk", `only ${sized(free)} are free`, advice)
      : free < LOW
        ? warn("disk", `${sized(free)} are free`, advice)
        : ok("disk", `${sized(free)} are free`),
  ];
  if (files > 0 && ffree < 1_000)
    findings.push(fail("disk", `only ${ffree} files fit on it`, "remove files"));
  const network = NETWORK.get(type);
  if (network) {
    const says = `the data directory is on ${network}`;
    findings.push(
      warn("file system", says, "use a local disk: the embedded database relies on its locks and flushes"),
    );
  }
  return findings;
}

/** A file made now says which time the disk has it is; the newest one there, what time it has been already. */
function checkClock(data_dir: string): Finding {
  const now = Date.now();
  const advice = "set the clock, by NTP for instance: schedules, tokens and job ids rely on it";
  if (now < EARLIEST) return fail("clock", `says ${new Date(now).toISOString()}`, advice);
  if (!canWrite(data_dir)) return ok("clock", new Date(now).toISOString());
  const folder = mkdtempSync(join(data_dir, "doctor-"));
  try {
    const file = openSync(join(folder, "clock"), "w", 0o600);
    const skew = Math.abs(fstatSync(file).mtimeMs - now);
    closeSync(file);
    if (skew > SKEW_MS)
      return warn("clock", `differs from the disk's by ${Math.round(skew / 1000)} s`, advice);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const newest = Math.max(
    ...privateFiles(data_dir).map(([path]) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
  if (newest - now > SKEW_MS) {
    return fail("clock", `was set back: the data was written at ${new Date(newest).toISOString()}`, advice);
  }
  return ok("clock", new Date(now).toISOString());
}

function nearest(path: string): string {
  let at = path;
  while (!existsSync(at)) at = dirname(at);
  return at;
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function modeOf(stats: Stats): string {
  return (stats.mode & 0o777).toString(8).padStart(4, "0");
}
