/** Reads the files of the server's own log: their list, and the lines that have some words. */
import { createReadStream, existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { createTimeSlices } from "../../../lib/async/time-slices.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { hourOfFile, LOG_FILE_PATTERN } from "../../../lib/logging/log-files.ts";
import type { App } from "../../../platform/app/context.ts";

/** Newest files that one call lists or searches. */
const MAX_FILES = 1_000;
const MAX_HITS = 1_000;

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
    for (const name of await readdir(join(folder, host.name))) {
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

/** Returns the absolute path of a file. @throws BadRequest for another name, NotFound */
export function findLogFile({ config }: App, file_path: string): string {
  if (!LOG_FILE_PATTERN.test(file_path)) {
    throw new BadRequest(`"${file_path}" is no file of the log`, { hint: "list_files has their file_path" });
  }
  const path = config.log_dir === undefined ? undefined : join(config.log_dir, file_path);
  if (path === undefined || !existsSync(path)) throw new NotFound(`file ${file_path} of the log`);
  return path;
}

/** Counts the lines of a file, those of errors apart; again only when it has grown. */
export async function countLines(app: App, file: LogFile): Promise<Omit<LineCounts, "bytes">> {
  const path = findLogFile(app, file.file_path);
  const { size } = await stat(path);
  const known = countsOf(app).get(path);
  if (known?.bytes === size) return known;
  const counts = { bytes: size, ok_lines: 0, err_lines: 0 };
  for await (const line of readLines(path)) {
    if (/"level":"(error|fatal)"/.test(line)) counts.err_lines++;
    else counts.ok_lines++;
  }
  countsOf(app).set(path, counts);
  return counts;
}

/** Yields the lines that have all words of a query, in any case, of the newest files first. */
export async function* searchLog(
  app: App,
  query: string,
  filter: LogFileFilter,
): AsyncGenerator<{ file: LogFile; line: string }> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) throw new BadRequest("query field `search_query`: there is no word to search for");
  let hits = 0;
  for (const file of await listLogFiles(app, filter)) {
    for await (const line of readLines(findLogFile(app, file.file_path))) {
      const text = line.toLowerCase();
      if (!words.every((word) => text.includes(word)) || !isWithin(line, filter)) continue;
      yield { file, line };
      if (++hits >= MAX_HITS) return;
    }
  }
}

/** Whether a line was written in the time that is asked for. */
function isWithin(line: string, { after, before }: LogFileFilter): boolean {
  const time = /"time":"([^"]+)"/.exec(line)?.[1];
  if (time === undefined) return true;
  const moment = new Date(time);
  return (!after || moment >= after) && (!before || moment <= before);
}

async function* readLines(path: string): AsyncGenerator<string> {
  const slice = createTimeSlices();
  for await (const line of createInterface({ input: createReadStream(path, "utf8") })) {
    if (line !== "") yield line;
    await slice();
  }
}
