import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { z } from "zod";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import { countLines, findLogFile, listLogFiles, searchLog } from "./service-logs.ts";

const list = operation({
  name: "listLogFiles",
  method: "GET",
  path: "/service_logs/list_files",
  access: "superAdmin",
  summary: "List the files of the server's own log, newest first; none unless SVC_LOG_DIR names a folder",
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
        ok_lines: z.number().int(),
        err_lines: z.number().int(),
        json_fmt: z.boolean(),
      }),
    ),
  ),
  run: async ({ app }, { query: { with_error, ...filter } }) => {
    const files = [];
    for (const file of await listLogFiles(app, filter)) {
      const { ok_lines, err_lines } = await countLines(app, file);
      if (with_error && err_lines === 0) continue;
      const { worker_group } = app.config;
      const log_ts = file.log_ts.toISOString();
      files.push({ ...file, log_ts, mode: "server", worker_group, ok_lines, err_lines, json_fmt: true });
    }
    return files;
  },
});

const get = operation({
  name: "getLogFile",
  method: "GET",
  path: "/service_logs/get_log_file/{path}",
  access: "superAdmin",
  summary: "Read a file of the server's own log, one JSON line after the other",
  responds: responds.raw("text/plain", "the file"),
  run: ({ app }, { path }) => {
    const lines = Readable.toWeb(createReadStream(findLogFile(app, path))) as unknown as ReadableStream;
    return new Response(lines, { headers: { "content-type": "text/plain; charset=utf-8" } });
  },
});

const span = { min_ts: isoTimestamp.optional(), max_ts: isoTimestamp.optional() };
const search_query = z.string().max(1_000);
const scope = { domain: "indexer", action: "read" } as const;

const search = operation({
  name: "searchLogsIndex",
  method: "GET",
  path: "/srch/index/search/service_logs",
  access: "superAdmin",
  scope,
  summary: "Find lines of a host's log that have all words, of the newest files first",
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
    }),
  ),
  run: async ({ app }, { query: { search_query: words, hostname, min_ts, max_ts } }) => {
    const hits = [];
    const filter = { hostnames: [hostname], after: min_ts, before: max_ts };
    for await (const { file, line } of searchLog(app, words, filter)) {
      hits.push({ file_path: file.file_path, log_ts: file.log_ts.toISOString(), line });
    }
    return { query_parse_errors: [], hits };
  },
});

const count = operation({
  name: "countSearchLogsIndex",
  method: "GET",
  path: "/srch/index/search/count_service_logs",
  access: "superAdmin",
  scope,
  summary: "Count the lines of hosts' logs that have all words",
  query: z.object({ search_query, hosts: z.string(), ...span }),
  responds: responds.json(
    z.object({
      query_parse_errors: z.array(z.string()),
      count_per_host: z.record(z.string(), z.number().int()),
    }),
  ),
  run: async ({ app }, { query: { search_query: words, hosts, min_ts, max_ts } }) => {
    const count_per_host: Record<string, number> = {};
    for (const hostname of hosts.split(",").map((host) => host.trim())) {
      count_per_host[hostname] = 0;
      const filter = { hostnames: [hostname], after: min_ts, before: max_ts };
      for await (const _ of searchLog(app, words, filter)) count_per_host[hostname]++;
    }
    return { query_parse_errors: [], count_per_host };
  },
});

export const serviceLogOperations: Operation[] = [list, get, search, count];
