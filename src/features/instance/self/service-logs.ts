/** Reads the files of the server's own log: their list, and the lines that have some words. */
import { existsSync } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { createSlots } from "../../../lib/async/slots.ts";
import { createTimeSlices } from "../../../lib/async/time-slices.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { hourOfFile, LOG_FILE_PATTERN } from "../../../lib/logging/log-files.ts";
import type { App } from "../../../platform/app/context.ts";

/** Newest files that one call lists or searches. */
const MAX_FILES = 1_000;
/** Time for which one call reads files, besides that of the last one; and calls that read at the same time. */
const TIME_LIMIT_MS = 5_000;
const MAX_READERS = 2;

export interface LogFile {
  hostname: string;
  /** Below the folder, with the host. */
  file_path: string;
  /** Start of its hour. */
  log_ts: Date;
}

interface LineCounts {
  bytes: number;
  ok_lines: number;
  err_lines: number;
}

/** By path; a file is one hour of one server. */
const MAX_COUNTED_FILES = 10_000;
const countsOf = perApp((_: App) => new Cache<LineCounts>({ max: MAX_COUNTED_FILES }));
const slotsOf = perApp(() => createSlots(MAX_READERS));

/** Which files are asked for; times are inclusive and concern the files' hours. */
export interface LogFileFilter {
  hostnames?: readonly string[] | undefined;
  after?: Date | undefined;
  before?: Date | undefined;
}

/** Lists the files, newest first; none where the server keeps no log. */
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
      const log_ts = hourOfFile(name);
      if (filter.before && log_ts > filter.before) continue;
      if (filter.after && log_ts.getTime() + 3_600_000 <= filter.after.getTime()) continue;
      files.push({ hostname: host.name, file_path, log_ts });
    }
  }
  return files.sort((a, b) => b.log_ts.getTime() - a.log_ts.getTime()).slice(0, MAX_FILES);
}

/** Opens a file. @throws BadRequest for another name, NotFound */
export async function openLogFile({ config }: App, file_path: string): Promise<FileHandle> {
  if (!LOG_FILE_PATTERN.test(file_path)) {
    throw new BadRequest(`"${file_path}" is no file of the log`, { hint: "list_files has their file_path" });
  }
  const missing = () =>
    new NotFound(`file ${file_path} of the log`, {
      hint: "files are deleted after two weeks; list them anew",
    });
  if (config.log_dir === undefined) throw missing();
  const file = await open(join(config.log_dir, file_path)).catch((cause) => {
    throw isMissing(cause) ? missing() : cause;
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw missing();
}

/** Opens a file of the list; undefined if it has been deleted since. */
async function openListed(app: App, { file_path }: LogFile): Promise<FileHandle | undefined> {
  return openLogFile(app, file_path).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
}

const isMissing = (cause: unknown) => ["ENOENT", "ENOTDIR"].includes((cause as { code?: string }).code ?? "");

export type CountedFile = LogFile & Partial<Omit<LineCounts, "bytes">>;

/**
 * Lists the files that there still are, with the numbers of their lines, those of errors apart. Files that have grown
 * are counted anew; those for which there was no time have no numbers.
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
 * Calls back with the lines that have all words of a query, in any case, of the newest files first, until there is no
 * time left or the callback returns false.
 * @returns how far it came, if there was no time for older files
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
      // All hosts' files of an hour are searched, so that the search can be continued before it.
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

/** Whether a line was written in the time that is asked for. */
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
