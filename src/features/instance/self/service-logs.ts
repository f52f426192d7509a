/** Lists and searches the files of the server's log. */
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { createSlots } from "../../../lib/async/slots.ts";
import { createTimeSlices } from "../../../lib/async/time-slices.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { LOG_FILE_PATTERN, parseLogFileHour } from "../../../lib/logging/log-files.ts";
import type { App } from "../../../platform/app/context.ts";

/** Maximum number of files that one call lists or searches, the newest first. */
const MAX_FILES = 1_000;
/**
 * Time limit of reading files in one call, which may be exceeded by the last file; and the maximum number of
 * concurrent calls.
 */
const TIME_LIMIT_MS = 5_000;
const MAX_READERS = 2;

export interface LogFile {
  hostname: string;
  /** Path below the log folder, with the host. */
  file_path: string;
  /** Start of its hour. */
  log_ts: Date;
}

interface LineCounts {
  bytes: number;
  ok_lines: number;
  err_lines: number;
}

/** Number of files whose line counts are cached. */
const MAX_COUNTED_FILES = 10_000;
const countsOf = memoizePerApp((_: App) => new Cache<LineCounts>({ max: MAX_COUNTED_FILES }));
const slotsOf = memoizePerApp(() => createSlots(MAX_READERS));

/** Selects files; times are inclusive and compared with the files' hours. */
export interface LogFileFilter {
  hostnames?: readonly string[] | undefined;
  after?: Date | undefined;
  before?: Date | undefined;
}

/** Lists the files, newest first; empty if the server writes no log files. */
export async function listLogFiles({ config }: App, filter: LogFileFilter): Promise<LogFile[]> {
  const folder = config.log_dir;
  if (folder === undefined || !existsSync(folder)) return [];
  const hosts = await readdir(folder, { withFileTypes: true });
  const files: LogFile[] = [];
  for (const host of hosts) {
    if (!host.isDirectory() || filter.hostnames?.includes(host.name) === false) continue;
    const names = await readdir(join(folder, host.name)).catch((cause) => {
      if (isMissing(cause)) return [];
      throw cause;
    });
    for (const name of names) {
      const file_path = `${host.name}/${name}`;
      if (!LOG_FILE_PATTERN.test(file_path)) continue;
      const log_ts = parseLogFileHour(name);
      if (filter.before && log_ts > filter.before) continue;
      if (filter.after && log_ts.getTime() + 3_600_000 <= filter.after.getTime()) continue;
      files.push({ hostname: host.name, file_path, log_ts });
    }
  }
  return files.sort((a, b) => b.log_ts.getTime() - a.log_ts.getTime()).slice(0, MAX_FILES);
}

/** Opens a file. @throws BadRequest for an invalid name, NotFound */
export async function openLogFile({ config }: App, file_path: string): Promise<FileHandle> {
  if (!LOG_FILE_PATTERN.test(file_path)) {
    throw new BadRequest(`"${file_path}" is not a file of the log`, {
      hint: "list_files has their file_path",
    });
  }
  const missing = () =>
    new NotFound(`file ${file_path} of the log`, {
      hint: "files are deleted after two weeks; list them again",
    });
  if (config.log_dir === undefined) throw missing();
  const file = await open(join(config.log_dir, file_path)).catch((cause) => {
    throw isMissing(cause) ? missing() : cause;
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw missing();
}

/** Opens a listed file; undefined if it has been deleted in the meantime. */
async function openListed(app: App, { file_path }: LogFile): Promise<FileHandle | undefined> {
  return openLogFile(app, file_path).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
}

const isMissing = (cause: unknown) => ["ENOENT", "ENOTDIR"].includes((cause as { code?: string }).code ?? "");

export type CountedFile = LogFile & Partial<Omit<LineCounts, "bytes">>;

/**
 * Lists the existing files with the numbers of all lines and of errors. Files that have grown are counted again;
 * files that could not be counted in time have no numbers.
 */
export function listCounted(app: App, filter: LogFileFilter): Promise<CountedFile[]> {
  return slotsOf(app).run(async () => {
    const until = performance.now() + TIME_LIMIT_MS;
    const files: CountedFile[] = [];
    for (const listed of await listLogFiles(app, filter)) {
      const file = await openListed(app, listed);
      if (!file) continue;
      try {
        files.push({ ...listed, ...(await countLines(app, listed, file, until)) });
      } finally {
        await file.close();
      }
    }
    return files;
  });
}

async function countLines(app: App, { file_path }: LogFile, file: FileHandle, until: number) {
  const { size } = await file.stat();
  let counts = countsOf(app).get(file_path);
  if (counts?.bytes !== size) {
    if (performance.now() > until) return {};
    counts = { bytes: size, ok_lines: 0, err_lines: 0 };
    for await (const line of readLines(file)) {
      if (/"level":"(error|fatal)"/.test(line)) counts.err_lines++;
      else counts.ok_lines++;
    }
    countsOf(app).set(file_path, counts);
  }
  return { ok_lines: counts.ok_lines, err_lines: counts.err_lines };
}

/**
 * Calls back with each line that contains all words of a query, ignoring case. Newest files come first. Stops at the
 * time limit, or when the callback returns false.
 * @returns how far the search came, if older files were not searched in time
 */
export function searchLog(
  app: App,
  query: string,
  filter: LogFileFilter,
  onLine: (file: LogFile, line: string) => boolean,
): Promise<Date | undefined> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) throw new BadRequest("query field `search_query`: there is no word to search for");
  return slotsOf(app).run(async () => {
    const until = performance.now() + TIME_LIMIT_MS;
    let hour: Date | undefined;
    for (const listed of await listLogFiles(app, filter)) {
      // All hosts' files of an hour are searched together, so that the search can continue with the hour before.
      if (hour && listed.log_ts < hour && performance.now() > until) return new Date(hour.getTime() - 1);
      hour = listed.log_ts;
      const file = await openListed(app, listed);
      if (!file) continue;
      try {
        for await (const line of readLines(file)) {
          const text = line.toLowerCase();
          if (!words.every((word) => text.includes(word)) || !isWithin(line, filter)) continue;
          if (!onLine(listed, line)) return undefined;
        }
      } finally {
        await file.close();
      }
    }
    return undefined;
  });
}

/** Whether a line was written within the requested time. */
function isWithin(line: string, { after, before }: LogFileFilter): boolean {
  const time = /"time":"([^"]+)"/.exec(line)?.[1];
  if (time === undefined) return true;
  const moment = new Date(time);
  return (!after || moment >= after) && (!before || moment <= before);
}

async function* readLines(file: FileHandle): AsyncGenerator<string> {
  const slice = createTimeSlices();
  for await (const line of file.readLines({ encoding: "utf8", autoClose: false })) {
    if (line !== "") yield line;
    await slice();
  }
}
