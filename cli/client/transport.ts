/**
 * Calls operations: over HTTP if a URL is given, through the local socket if a server runs on this data directory, else
 * in this process on the data directory. Calls and errors are the same each way.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { removeTrailingSlashes } from "../../src/lib/text/slashes.ts";
import type { JobsRole } from "../../src/platform/app/loop.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import { ACT_AS_HEADER } from "../../src/platform/http/act-as.ts";
import { listParameterNames } from "../../src/platform/http/path-parameters.ts";
import type { RunningApp } from "../../src/server/app.ts";
import { CliError, createUsageError, EXIT_CODES } from "../terminal/text/failure.ts";
import { readInstanceFacts } from "./data-directory.ts";
import type { RemoteOperation } from "./remote-operation.ts";

export interface ConnectionTarget {
  data_dir?: string | undefined;
  url?: string | undefined;
  token?: string | undefined;
}

export interface ServiceClient {
  /** Whether this process works on the data directory itself, so that no server runs queued jobs. */
  readonly local: boolean;
  /** The server's address, or the data directory. */
  readonly where: string;
  /** Runs the operation and returns its decoded result. @throws CliError */
  call<I, R>(operation: RemoteOperation<I, R>, input: I): Promise<R>;
  /** Runs the operation and returns the raw response, for streams. @throws CliError */
  open<I>(operation: RemoteOperation<I, unknown>, input: I, signal?: AbortSignal): Promise<Response>;
  /** Sends any request, with a path below `/api`, and returns any response. @throws CliError if there is none */
  send(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

/** Connects to the service. @param role which jobs this process runs, if it works on the data directory itself */
export async function connectToService(
  target: ConnectionTarget,
  role: JobsRole = "none",
): Promise<ServiceClient> {
  const up = await findRunningServer(target);
  if (up) return up;
  const local = await openLocally(target, role);
  const send: Send = async (path, init) =>
    local.app.fetchAsLocalAdmin(new Request(`http://localhost${path}`, init));
  const where = { data_dir: local.data_dir };
  return { ...createClient(actAsAdmin(local.data_dir, send), local.close, where), local: true };
}

/** Connects to a running server; undefined if none runs and the data directory would have to be opened. */
export async function findRunningServer(target: ConnectionTarget): Promise<ServiceClient | undefined> {
  if (target.url !== undefined) {
    return createClient(createNetworkSend(target.url, target.token), async () => {}, target);
  }
  const config = loadConfig({ data_dir: target.data_dir });
  const socket = join(config.data_dir, "svc.sock");
  if (existsSync(socket)) {
    const send: Send = (path, init) => fetch(`http://localhost${path}`, { ...init, unix: socket });
    const answers = await send("/api/version", {}).then(
      (response) => response.ok,
      () => false,
    );
    if (answers)
      return createClient(
        actAsAdmin(config.data_dir, withUnreachableError(`the server of ${config.data_dir}`, send)),
        async () => {},
        { data_dir: config.data_dir },
      );
  }
  return undefined;
}

/**
 * Names the admin that `svc init` created as the caller of local commands, so that what they create belongs to a user.
 */
function actAsAdmin(data_dir: string, send: Send): Send {
  const { admin } = readInstanceFacts(data_dir);
  if (admin === undefined) return send;
  return (path, init) =>
    send(path, { ...init, headers: { ...(init.headers as object), [ACT_AS_HEADER]: admin } });
}

/** Normalises a server's URL: without a trailing slash and `/api`. */
export function normaliseServerUrl(url: string): string {
  return removeTrailingSlashes(url).replace(/\/api$/, "");
}

function createNetworkSend(url: string, token: string | undefined): Send {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw createUsageError(`"${url}" is not the URL of a server`, "write it such as http://localhost:8000");
  }
  const base = normaliseServerUrl(url);
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return withUnreachableError(base, (path, init) =>
    fetch(`${base}${path}`, { ...init, headers: { ...(init.headers as object), ...headers } }),
  );
}

function withUnreachableError(where: string, send: Send): Send {
  return async (path, init) => {
    try {
      return await send(path, init);
    } catch (cause) {
      const { code, message } = cause as Error & { code?: string };
      throw new CliError("Unreachable", `${where} cannot be reached: ${code ?? message}`, {
        hint: "check the address, and that the server is up",
        exit_code: EXIT_CODES.unreachable,
      });
    }
  };
}

async function openLocally(
  target: ConnectionTarget,
  role: JobsRole,
): Promise<{ app: RunningApp; data_dir: string; close: () => Promise<void> }> {
  const [{ createApp }, { startListener }, { lockDirectory }] = await Promise.all([
    import("../../src/server/app.ts"),
    import("../../src/server/server.ts"),
    import("../../src/lib/files/directory-lock.ts"),
  ]);
  const config = loadConfig({
    data_dir: target.data_dir,
    blank_children: role === "none" ? 0 : 1,
    log_level: process.env.SVC_LOG_LEVEL ?? "error",
  });
  const lock = lockDirectory(config.data_dir, `svc ${process.argv.slice(2, 4).join(" ")}`);
  try {
    const app = await createApp(config, role);
    // Scripts call the service during the command, so it listens on a local port.
    const listener =
      role === "none" ? undefined : await startListener({ host: "127.0.0.1", port: 0 }, app.fetch);
    if (listener) app.setListenUrls(listener.url);
    return {
      app,
      data_dir: config.data_dir,
      async close() {
        await app.stop();
        await listener?.close();
        lock.release();
      },
    };
  } catch (cause) {
    lock.release();
    throw cause;
  }
}

function createClient(send: Send, close: () => Promise<void>, target: ConnectionTarget): ServiceClient {
  async function request<I>(
    operation: RemoteOperation<I, unknown>,
    input: I,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { path, body } = toRequest(operation, input as Record<string, unknown>);
    const response = await send(path, {
      method: operation.method,
      ...(body === undefined ? {} : { body }),
      ...(typeof body === "string" ? { headers: { "content-type": "application/json" } } : {}),
      ...(signal ? { signal } : {}),
    });
    if (!isServiceResponse(response, operation)) throw createNotServiceError(response, target);
    if (response.ok) return response;
    throw await toCliError(response, target);
  }
  return {
    local: false,
    where: target.url === undefined ? (target.data_dir ?? "") : normaliseServerUrl(target.url),
    async call<I, R>(operation: RemoteOperation<I, R>, input: I): Promise<R> {
      const response = await request(operation, input);
      return (operation.responds.kind === "json" ? response.json() : response.text()) as Promise<R>;
    },
    open: request,
    send,
    close,
  };
}

function toRequest(
  operation: { path: string },
  input: Record<string, unknown>,
): { path: string; body: string | FormData | undefined } {
  let path = `/api${operation.path}`;
  for (const name of listParameterNames(operation.path))
    path = path.replace(`{${name}}`, encodeURI(String(input[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((input.query as object | undefined) ?? {})) {
    if (value !== undefined && value !== null)
      query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const search = query.size > 0 ? `?${query}` : "";
  if (input.form instanceof FormData) return { path: path + search, body: input.form };
  return { path: path + search, body: "body" in input ? JSON.stringify(input.body) : undefined };
}

const MEDIA_TYPE: Record<string, string> = { json: "application/json", text: "text/plain" };

/** Whether the response can be from this operation, and not from another program on that port. */
function isServiceResponse(response: Response, operation: { responds: { kind: string } }): boolean {
  if (!response.ok) return response.headers.has("svc-error");
  const expected = MEDIA_TYPE[operation.responds.kind];
  return expected === undefined || (response.headers.get("content-type") ?? "").startsWith(expected);
}

function createNotServiceError(response: Response, { url }: ConnectionTarget): CliError {
  return new CliError(
    "Unreachable",
    `the server at ${url} is not svc: it answered with status ${response.status}`,
    {
      hint: "check --url: it is the server's address, without a path",
      exit_code: EXIT_CODES.unreachable,
    },
  );
}

/** Converts an error response, with its hint. */
export async function toCliError(response: Response, { token }: ConnectionTarget): Promise<CliError> {
  const name = response.headers.get("svc-error") ?? "Internal";
  const [text = "", ...hint] = (await response.text()).split("\n");
  const message = omitStatus(text);
  const unknown = response.status === 401;
  const advice = token
    ? "check the token (--token or SVC_TOKEN), and whether it is meant for this workspace"
    : "log in with svc login, or give a token with --token or SVC_TOKEN";
  return new CliError(name, message || `the server answered ${response.status}`, {
    hint: hint.join("\n") || (unknown ? advice : undefined),
    exit_code: unknown ? EXIT_CODES.unreachable : EXIT_CODES.failed,
  });
}

/** Words for HTTP statuses that servers put before messages; they tell users nothing more. */
const STATUS_WORDS = /^(Bad request|Conflict|Unprocessable|Method not allowed|Unauthorized): /;
/** Whether the message after `Not found: ` is a sentence and not only a name. */
const IS_SENTENCE = /^(there|the|this|a|an|nobody|metrics) |: | (is|was) /;

/** Removes the word of the status from a message: `Not found: job 7` becomes `there is no job 7`. */
function omitStatus(message: string): string {
  const [, missing] = /^Not found: (.*)$/.exec(message) ?? [];
  if (missing === undefined) return message.replace(STATUS_WORDS, "");
  return IS_SENTENCE.test(missing) ? missing : `there is no ${missing}`;
}
