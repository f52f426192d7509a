/** Checks the data directory: permissions, free space, and the clock of its disk. */
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
import { listPrivateFiles } from "../../../../src/lib/files/private-files.ts";
import type { Config } from "../../../../src/platform/config/config.ts";
import {
  createFailFinding,
  createOkFinding,
  createWarnFinding,
  type Finding,
  formatBytes,
} from "./finding.ts";

const LOW_SPACE_BYTES = 2_000_000_000;
const VERY_LOW_SPACE_BYTES = 200_000_000;
/** Network file systems, where locks may be local to one machine and flushes delayed (magic numbers of statfs(2)). */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "SMB"],
  [0xfe534d42, "SMB"],
  [0x517b, "SMB"],
]);
const MAX_CLOCK_SKEW_MS = 60_000;
/** Times before this are invalid: this program did not exist then. */
const EARLIEST_TIME_MS = Date.UTC(2025, 0, 1);

export function checkDirectory(config: Config): Finding[] {
  const { data_dir } = config;
  const stats = existsSync(data_dir) ? statSync(data_dir) : undefined;
  if (!stats) {
    const parent = findNearestFolder(data_dir);
    const writable = canWrite(parent);
    return [
      writable
        ? createOkFinding("data directory", `${data_dir} does not exist yet: svc serve makes it`)
        : createFailFinding(
            "data directory",
            `${data_dir} cannot be made in ${parent}`,
            "make it, owned by the server's user",
          ),
      ...checkDisk(parent),
    ];
  }
  if (!stats.isDirectory())
    return [createFailFinding("data directory", `${data_dir} is not a folder`, "choose another --data-dir")];
  return [
    checkFolder(data_dir, stats),
    ...checkFiles(data_dir),
    checkKey(config),
    ...checkDisk(data_dir),
    checkClock(data_dir),
  ];
}

function checkFolder(path: string, stats: Stats): Finding {
  const me = process.getuid?.();
  if (!canWrite(path)) {
    return createFailFinding(
      "data directory",
      `${path} cannot be written by this user`,
      `chown it to the server's user (${me})`,
    );
  }
  // Scripts of a server that runs as root traverse the directory through the group of their user ids.
  const allowed = me === 0 ? 0o010 : 0;
  if (stats.mode & 0o077 & ~allowed) {
    const advice = `chmod 700 ${path}`;
    return createWarnFinding(
      "data directory",
      `${path} is open to other users (mode ${formatMode(stats)})`,
      advice,
    );
  }
  return createOkFinding("data directory", `${path} is yours alone`);
}

function checkFiles(data_dir: string): Finding[] {
  const open = listPrivateFiles(data_dir).flatMap(([path]) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats && (stats.mode & 0o077) !== 0 ? [path] : [];
  });
  if (open.length === 0) return [createOkFinding("files", "are readable by their owner alone")];
  const advice = `chmod 600 ${open.join(" ")}`;
  const names = open.map((path) => basename(path));
  const says = `${names.join(", ")}: other users may read`;
  return [
    names.includes("instance.key")
      ? createFailFinding("files", says, advice)
      : createWarnFinding("files", says, advice),
  ];
}

function checkKey({ data_dir, secret_key, database_url }: Config): Finding {
  const check = "instance key";
  if (secret_key) return createOkFinding(check, "is SVC_SECRET_KEY");
  const hasData = database_url !== undefined || existsSync(join(data_dir, "svc.db"));
  if (!existsSync(join(data_dir, "instance.key"))) {
    if (!hasData) return createOkFinding(check, "is made at the first start");
    const advice =
      "put instance.key back from where you keep it: a new one is made at the next start otherwise";
    return createWarnFinding(check, "is missing beside a database: its secrets cannot be read", advice);
  }
  try {
    loadInstanceKey(data_dir, undefined);
    return createOkFinding(check, "is there; keep a copy of instance.key elsewhere");
  } catch (cause) {
    return createFailFinding(check, (cause as Error).message, "put the right instance.key back");
  }
}

function checkDisk(path: string): Finding[] {
  const { bavail, bsize, type, ffree, files } = statfsSync(path);
  const free = bavail * bsize;
  const advice = "free some space, lower SVC_JOB_RETENTION_SECS, or move the data directory";
  const findings = [
    free < VERY_LOW_SPACE_BYTES
      ? createFailFinding("disk", `only ${formatBytes(free)} are free`, advice)
      : free < LOW_SPACE_BYTES
        ? createWarnFinding("disk", `${formatBytes(free)} are free`, advice)
        : createOkFinding("disk", `${formatBytes(free)} are free`),
  ];
  if (files > 0 && ffree < 1_000)
    findings.push(createFailFinding("disk", `only ${ffree} files fit on it`, "remove files"));
  const network = NETWORK_FILE_SYSTEMS.get(type);
  if (network) {
    const says = `the data directory is on ${network}`;
    findings.push(
      createWarnFinding(
        "file system",
        says,
        "use a local disk: the embedded database relies on its locks and flushes",
      ),
    );
  }
  return findings;
}

/** Compares the clock with the time of a new file, and with that of the newest existing one. */
function checkClock(data_dir: string): Finding {
  const now = Date.now();
  const advice = "set the clock, by NTP for instance: schedules, tokens and job ids rely on it";
  if (now < EARLIEST_TIME_MS)
    return createFailFinding("clock", `says ${new Date(now).toISOString()}`, advice);
  if (!canWrite(data_dir)) return createOkFinding("clock", new Date(now).toISOString());
  const folder = mkdtempSync(join(data_dir, "doctor-"));
  try {
    const file = openSync(join(folder, "clock"), "w", 0o600);
    const skew = Math.abs(fstatSync(file).mtimeMs - now);
    closeSync(file);
    if (skew > MAX_CLOCK_SKEW_MS)
      return createWarnFinding("clock", `differs from the disk's by ${Math.round(skew / 1000)} s`, advice);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const newest = Math.max(
    ...listPrivateFiles(data_dir).map(([path]) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
  if (newest - now > MAX_CLOCK_SKEW_MS) {
    return createFailFinding(
      "clock",
      `was set back: the data was written at ${new Date(newest).toISOString()}`,
      advice,
    );
  }
  return createOkFinding("clock", new Date(now).toISOString());
}

function findNearestFolder(path: string): string {
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

function formatMode(stats: Stats): string {
  return (stats.mode & 0o777).toString(8).padStart(4, "0");
}
