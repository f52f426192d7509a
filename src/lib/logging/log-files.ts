/**
 * The server's own log as files, beside what goes to stderr: `<host>/<start of the hour>.log` below a folder, one JSON
 * line after the other. Servers that share the folder share the list. Each server deletes its host's old files.
 */
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const HOUR_MS = 3_600_000;
/** Hours for which files are kept. */
const KEPT_HOURS = 14 * 24;
/** Bytes of a file: further lines of that hour are left out of it. */
const MAX_FILE_BYTES = 50_000_000;

/** Host and file: `web-1/2026-01-31T08.log`. */
export const LOG_FILE_PATTERN = /^([\w.-]{1,255})\/(\d{4}-\d\d-\d\dT\d\d)\.log$/;

const nameOfHour = (hour: number) => `${new Date(hour * HOUR_MS).toISOString().slice(0, 13)}.log`;

/** Returns the start of the hour that a file's name says. */
export const hourOfFile = (name: string): Date => new Date(`${name.slice(0, 13)}:00:00Z`);

/** Opens the folder. @returns a function that appends a line; what cannot be written is left out */
export function openLogFiles(folder: string): (line: string) => void {
  const own = join(folder, hostname().replace(/[^\w.-]/g, "_"));
  mkdirSync(own, { recursive: true, mode: 0o700 });
  let file: { hour: number; fd: number; bytes: number } | undefined;

  function openHour(hour: number): NonNullable<typeof file> {
    if (file?.hour === hour) return file;
    if (file) closeSync(file.fd);
    file = { hour, fd: openSync(join(own, nameOfHour(hour)), "a", 0o600), bytes: 0 };
    const oldest = nameOfHour(hour - KEPT_HOURS);
    for (const name of readdirSync(own)) if (name < oldest) rmSync(join(own, name), { force: true });
    return file;
  }

  return (line) => {
    try {
      const current = openHour(Math.floor(Date.now() / HOUR_MS));
      if (current.bytes > MAX_FILE_BYTES) return;
      current.bytes += writeSync(current.fd, line);
    } catch {
      // A full disk must not stop the server; the line is on stderr.
    }
  };
}
