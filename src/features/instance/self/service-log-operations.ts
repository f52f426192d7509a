import { Readable } from "node:stream";
import * as z from "../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import { listCounted, openLogFile, searchLog } from "./service-logs.ts";

const list = operation({
  name: "listLogFiles",
  method: "GET",
  path: "/service_logs/list_files",
  access: "superAdmin",
  summary: "List the files of the server's log, newest first; empty unless SVC_LOG_DIR is set",
  query: z.object({
    before: isoTimestamp.optional(),
    after: isoTimestamp.optional(),
    with_error: queryBoolean.optional(),
  }),
  responds: responds.json(
    z.array(
      z.object({
        hostname: z.string(),
        mode: z.string(),
        worker_group: z.string(),
        log_ts: isoTimestamp,
        file_path: z.string(),
        /** Absent if there was no time to count the lines: request it again. */
        ok_lines: z.number().int().optional(),
        err_lines: z.number().int().optional(),
        json_fmt: z.boolean(),
      }),
    ),
  ),
  run: async ({ app }, { query: { with_error, ...filter } }) => {
    const { worker_group } = app.config;
    return (await listCounted(app, filter))
      .filter(({ err_lines }) => !with_error || err_lines !== 0)
      .map((file) => ({
        ...file,
        log_ts: file.log_ts.toISOString(),
        mode: MODE,
        worker_group,
        json_fmt: true,
      }));
  },
});

const get = operation({
  name: "getLogFile",
  method: "GET",
  path: "/service_logs/get_log_file/{path}",
  access: "superAdmin",
  summary: "Read a file of the server's log, one JSON object per line",
  responds: responds.raw("text/plain", "the file"),
  run: async ({ app }, { path }) => {
    const file = await openLogFile(app, path);
    const lines = Readable.toWeb(file.createReadStream()) as unknown as ReadableStream;
    return new Response(lines, { headers: { "content-type": "text/plain; charset=utf-8" } });
  },
});

/** Mode of each process: a server, with or without workers. */
const MODE = "server";
/** Maximum number of lines that a search returns. */
const MAX_HITS = 1_000;
const searched_until = isoTimestamp.optional();

const span = { min_ts: isoTimestamp.optional(), max_ts: isoTimestamp.optional() };
const search_query = z.string().max(1_000);
const scope = { domain: "indexer", action: "read" } as const;

const search = operation({
  name: "searchLogsIndex",
  method: "GET",
  path: "/srch/index/search/service_logs",
  access: "superAdmin",
  scope,
  summary: "Search a host's log for lines with all words, newest files first",
  query: z.object({
    search_query,
    mode: z.string().optional(),
    worker_group: z.string().optional(),
    hostname: z.string(),
    ...span,
  }),
  responds: responds.json(
    z.object({
      query_parse_errors: z.array(z.string()),
      hits: z.array(z.object({ file_path: z.string(), log_ts: isoTimestamp, line: z.string() })),
      /**
       * Set if the time limit was reached, so that older files were not searched. Pass it as `max_ts` to continue.
       */
      searched_until,
    }),
  ),
  run: async ({ app }, { query }) => {
    const { search_query: words, hostname, mode, worker_group } = query;
    const hits: { file_path: string; log_ts: string; line: string }[] = [];
    const others = (mode && mode !== MODE) || (worker_group && worker_group !== app.config.worker_group);
    const filter = { hostnames: others ? [] : [hostname], after: query.min_ts, before: query.max_ts };
    const reached = await searchLog(app, words, filter, ({ file_path, log_ts }, line) => {
      hits.push({ file_path, log_ts: log_ts.toISOString(), line });
      return hits.length < MAX_HITS;
    });
    return { query_parse_errors: [], hits, ...untilOf(reached) };
  },
});

const untilOf = (reached: Date | undefined) => (reached ? { searched_until: reached.toISOString() } : {});

const count = operation({
  name: "countSearchLogsIndex",
  method: "GET",
  path: "/srch/index/search/count_service_logs",
  access: "superAdmin",
  scope,
  summary: "Count the lines of hosts' logs with all words",
  query: z.object({ search_query, hosts: z.string(), ...span }),
  responds: responds.json(
    z.object({
      query_parse_errors: z.array(z.string()),
      count_per_host: z.record(z.string(), z.number().int()),
      /**
       * Set if the time limit was reached, so that older files were not searched. Pass it as `max_ts` to continue,
       * and add up the counts.
       */
      searched_until,
    }),
  ),
  run: async ({ app }, { query: { search_query: words, hosts, min_ts, max_ts } }) => {
    const hostnames = hosts.split(",").map((host) => host.trim());
    const counts = new Map(hostnames.map((host) => [host, 0]));
    const filter = { hostnames, after: min_ts, before: max_ts };
    const reached = await searchLog(app, words, filter, ({ hostname }) => {
      counts.set(hostname, counts.get(hostname)! + 1);
      return true;
    });
    return { query_parse_errors: [], count_per_host: Object.fromEntries(counts), ...untilOf(reached) };
  },
});

export const serviceLogOperations: Operation[] = [list, get, search, count];
