/**
 * The server's log as files, in addition to stderr: `<host>/<start of the hour>.log` below a folder, one JSON object
 * per line. Servers that share the folder share its list of files. Each server deletes the old files of its own host.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const HOUR_MS = 3_600_000;
/** Hours for which files are kept. */
const KEPT_HOURS = 14 * 24;
/** Approximate maximum size of a file in bytes. Further lines of that hour are dropped, and the last line says so. */
const MAX_FILE_BYTES = 50_000_000;
const FULL = `${JSON.stringify({ level: "warn", msg: "the file is full: the rest of the hour is on stderr alone" })}\n`;
/** Only files with such a name are deleted. */
const FILE_NAME = /^\d{4}-\d\d-\d\dT\d\d\.log$/;

/** Host and file: `web-1/2026-01-31T08.log`. */
export const LOG_FILE_PATTERN = /^([\w.-]{1,255})\/(\d{4}-\d\d-\d\dT\d\d)\.log$/;

const nameOfHour = (hour: number) => `${new Date(hour * HOUR_MS).toISOString().slice(0, 13)}.log`;

/** Returns the start of the hour in a file's name. */
export const parseLogFileHour = (name: string): Date => new Date(`${name.slice(0, 13)}:00:00Z`);

/** Opens the folder. @returns a function that appends a line; lines that cannot be written are dropped */
export function openLogFiles(folder: string): (line: string) => void {
  const own = join(folder, hostname().replace(/[^\w.-]/g, "_"));
  // A folder that cannot be created is reported when the server starts.
  mkdirSync(own, { recursive: true, mode: 0o700 });
  let file: { hour: number; fd: number; bytes: number } | undefined;

  function openHour(hour: number): NonNullable<typeof file> {
    if (file?.hour === hour) return file;
    // Cleared first: once the file is closed, its descriptor number may be reused, even if something fails here.
    const previous = file;
    file = undefined;
    if (previous) closeSync(previous.fd);
    mkdirSync(own, { recursive: true, mode: 0o700 });
    const fd = openSync(join(own, nameOfHour(hour)), "a", 0o600);
    file = { hour, fd, bytes: fstatSync(fd).size };
    const oldest = nameOfHour(hour - KEPT_HOURS);
    for (const name of readdirSync(own)) {
      if (FILE_NAME.test(name) && name < oldest) rmSync(join(own, name), { force: true });
    }
    return file;
  }

  return (line) => {
    try {
      const current = openHour(Math.floor(Date.now() / HOUR_MS));
      if (current.bytes > MAX_FILE_BYTES) return;
      current.bytes += writeSync(current.fd, line);
      if (current.bytes > MAX_FILE_BYTES) writeSync(current.fd, FULL);
    } catch {
      // A full disk must not stop the server; the line is on stderr.
    }
  };
}
