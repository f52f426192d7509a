import { toCliError } from "../../client/transport.ts";
import { readTextFile } from "../../program/arguments.ts";
import {
  createCommand,
  formatExamples,
  resolveConnection,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { CliError, createUsageError, EXIT_CODES } from "../../terminal/text/failure.ts";
import { printJson, printNote, writeBytes } from "../../terminal/text/output.ts";
import { listRoutes } from "./routes.ts";

interface ApiOptions extends WorkspaceOptions {
  data?: string;
  query?: string[];
  header?: string[];
  include?: boolean;
  list?: boolean;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

const collect = (value: string, before: string[] = []) => [...before, value];

export default createCommand("api", "call any operation of the service", "new")
  .argument("[method]", "default: GET, or POST with --data")
  .argument("[path]", "below /api, such as w/acme/scripts/list; {workspace} is filled in")
  .option("-d, --data <body>", "the body: JSON, @file, or - for stdin")
  .option("--query <name=value>", "added to the query; may be repeated", collect)
  .option("-H, --header <name: value>", "header of the request; may be repeated", collect)
  .option("-i, --include", "print status and headers on stderr")
  .option("--list", "list the operations, or those that contain the given text")
  .option("--workspace <id>", "value of {workspace} (env SVC_WORKSPACE)")
  .addHelpText(
    "after",
    `${formatExamples(
      "svc api users/whoami",
      "svc api w/{workspace}/jobs/list --query per_page=5",
      `svc api POST w/{workspace}/folders/create -d '{"name":"shop"}'`,
      "svc api DELETE w/acme/variables/delete/u/ann/region",
      "svc api --list variables",
    )}

JSON is pretty-printed, everything else is printed as is. A status of 400 or
more ends the command with exit code 1. See /api/docs on a server for what
each operation takes.`,
  )
  .action(async (first: string | undefined, second: string | undefined, options: ApiOptions) => {
    if (options.list) return listRoutes(second ?? first, options);
    const { method, path } = parseTarget(first, second, options.data !== undefined);
    const headers = parseHeaders(options);
    const body = await readBody(options.data, headers);
    const query = new URLSearchParams((options.query ?? []).map(parsePair)).toString();
    await withClient(
      options,
      async (client) => {
        const found = path.includes("{workspace}")
          ? path.replaceAll("{workspace}", await resolveWorkspace(client, options.workspace))
          : path;
        const url = `/api/${found}${query ? `${found.includes("?") ? "&" : "?"}${query}` : ""}`;
        const response = await client.send(url, { method, headers, ...(body === undefined ? {} : { body }) });
        await printResponse(response, options);
      },
      // If no server runs, jobs started by a changing request are run here.
      method === "GET" || method === "HEAD" ? "none" : "own",
    );
  });

/** Parses the positional arguments into an HTTP method and a path. @throws a usage error */
function parseTarget(
  first: string | undefined,
  second: string | undefined,
  hasBody: boolean,
): { method: string; path: string } {
  const given = second ?? first;
  const hint = "such as svc api GET w/{workspace}/scripts/list; svc api --list tells all";
  if (given === undefined) throw createUsageError("the path is missing", hint);
  const method = second === undefined ? (hasBody ? "POST" : "GET") : first!.toUpperCase();
  if (!METHODS.includes(method))
    throw createUsageError(`${first} is not a method of HTTP`, `use ${METHODS.join(", ")}`);
  if (second === undefined && METHODS.includes(given)) throw createUsageError("the path is missing", hint);
  if (/^https?:/.test(given))
    throw createUsageError("the path must be one below /api, without the server", hint);
  return { method, path: given.replace(/^\/?(api\/)?/, "") };
}

function parseHeaders({ header = [] }: ApiOptions): Headers {
  const headers = new Headers();
  for (const line of header) {
    const [, name, value] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined)
      throw createUsageError(`--header ${line}: must be a name and a value`, "such as 'accept: text/plain'");
    headers.set(name, value!);
  }
  return headers;
}

function parsePair(pair: string): [string, string] {
  const at = pair.indexOf("=");
  if (at < 1)
    throw createUsageError(`--query ${pair}: must be a name and a value`, "such as --query per_page=5");
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** Reads the body as it is sent: JSON unless a header says otherwise. @throws a usage error for invalid JSON */
async function readBody(data: string | undefined, headers: Headers): Promise<string | Blob | undefined> {
  if (data === undefined) return undefined;
  const isJson = !headers.has("content-type");
  if (!isJson && data.startsWith("@") && data !== "@-") return Bun.file(data.slice(1));
  const text =
    data === "-" || data === "@-"
      ? await Bun.stdin.text()
      : data.startsWith("@")
        ? await readTextFile(data.slice(1))
        : data;
  if (!isJson) return text;
  headers.set("content-type", "application/json");
  try {
    JSON.parse(text);
  } catch (cause) {
    throw createUsageError(
      `--data is not JSON: ${(cause as Error).message}`,
      "for another kind of body say which: -H 'content-type: text/plain'",
    );
  }
  return text;
}

async function printResponse(response: Response, options: ApiOptions): Promise<void> {
  if (options.include) {
    printNote(`${response.status} ${response.statusText}`.trimEnd());
    for (const [name, value] of response.headers) printNote(`${name}: ${value}`);
  }
  if (response.headers.has("svc-error")) {
    const { name, message, hint, exit_code } = await toCliError(response, resolveConnection(options));
    const list = response.status === 404 ? "svc api --list tells which operations there are" : undefined;
    throw new CliError(name, message, { hint: hint ?? list, exit_code });
  }
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) {
    const text = await response.text();
    if (text !== "") printJson(JSON.parse(text));
  } else {
    let last = "\n";
    const pieces = async function* () {
      for await (const bytes of response.body ?? []) {
        last = String.fromCharCode(bytes.at(-1) ?? 10);
        yield bytes;
      }
    };
    await writeBytes(process.stdout, pieces());
    const isLine = type.startsWith("text/plain") || process.stdout.isTTY;
    if (isLine && last !== "\n") process.stdout.write("\n");
  }
  if (!response.ok) process.exitCode = EXIT_CODES.failed;
}
