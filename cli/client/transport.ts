/**
 * Reaches an operation: over HTTP when a URL is given, through the socket of the server on this data directory when one
 * is up, else in this process on the data directory itself. The same call each way, and the same errors.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { JobsRole } from "../../src/platform/app/loop.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import { parameterNames, type TypedOperation } from "../../src/platform/http/operation.ts";
import type { RunningApp } from "../../src/server/app.ts";
import { CliError, EXIT, usageError } from "../terminal/text/failure.ts";

export interface Target {
  data_dir?: string | undefined;
  url?: string | undefined;
  token?: string | undefined;
}

export interface Client {
  /** True where this process itself works on the data directory: no server is up that would run a queued job. */
  readonly local: boolean;
  /** Runs the operation and answers its result, decoded as it declares. @throws CliError */
  call<I, R>(operation: TypedOperation<I, R>, input: I): Promise<R>;
  /** Runs the operation and answers the raw response: streams. @throws CliError */
  open<I>(operation: TypedOperation<I, unknown>, input: I, signal?: AbortSignal): Promise<Response>;
  /** Sends any request, its path with `/api`, and answers whatever comes back. @throws CliError when nothing does */
  send(path: string, init: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

type Send = (path: string, init: RequestInit) => Promise<Response>;

/** @param role which jobs this process runs, should it work on the data directory itself */
export async function connect(target: Target, role: JobsRole = "none"): Promise<Client> {
  const up = await connectIfUp(target);
  if (up) return up;
  const local = await openLocally(target, role);
  const send: Send = async (path, init) =>
    local.app.fetchAsOperator(new Request(`http://localhost${path}`, init));
  return { ...clientOf(send, local.close), local: true };
}

/** The way to a server; undefined where none is up and the data directory itself would have to be opened. */
export async function connectIfUp(target: Target): Promise<Client | undefined> {
  if (target.url !== undefined) {
    return clientOf(overNetwork(target.url, target.token), async () => {}, target);
  }
  const config = loadConfig({ data_dir: target.data_dir });
  const socket = join(config.data_dir, "svc.sock");
  if (existsSync(socket)) {
    const send: Send = (path, init) => fetch(`http://localhost${path}`, { ...init, unix: socket });
    const answers = await send("/api/version", {}).then(
      (response) => response.ok,
      () => false,
    );
    if (answers) return clientOf(orUnreachable(`the server of ${config.data_dir}`, send), async () => {});
  }
  return undefined;
}

/** A server's address as it is used and compared: without a trailing slash or `/api`. */
export function baseOf(url: string): string {
  return url.replace(/\/+$/, "").replace(/\/api$/, "");
}

function overNetwork(url: string, token: string | undefined): Send {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw usageError(`"${url}" is not the URL of a server`, "write it such as http://localhost:8000");
  }
  const base = baseOf(url);
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  return orUnreachable(base, (path, init) =>
    fetch(`${base}${path}`, { ...init, headers: { ...(init.headers as object), ...headers } }),
  );
}

function orUnreachable(where: string, send: Send): Send {
  return async (path, init) => {
    try {
      return await send(path, init);
    } catch (cause) {
      const { code, message } = cause as Error & { code?: string };
      throw new CliError("Unreachable", `${where} cannot be reached: ${code ?? message}`, {
        hint: "check the address, and that the server is up",
        exit_code: EXIT.unreachable,
      });
    }
  };
}

async function openLocally(
  target: Target,
  role: JobsRole,
): Promise<{ app: RunningApp; close: () => Promise<void> }> {
  const [{ createApp }, { listen }, { lockDirectory }] = await Promise.all([
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
    // Scripts call the service back, so it answers them for as long as the command takes.
    const listener = role === "none" ? undefined : await listen({ host: "127.0.0.1", port: 0 }, app.fetch);
    if (listener) app.listenAt(listener.url);
    return {
      app,
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

function clientOf(send: Send, close: () => Promise<void>, target: Target = {}): Client {
  async function request<I>(
    operation: TypedOperation<I, unknown>,
    input: I,
    signal?: AbortSignal,
  ): Promise<Response> {
    const { path, body } = toRequest(operation, input as Record<string, unknown>);
    const response = await send(path, {
      method: operation.method,
      ...(body === undefined ? {} : { body, headers: { "content-type": "application/json" } }),
      ...(signal ? { signal } : {}),
    });
    if (!isOfService(response, operation)) throw notTheService(response, target);
    if (response.ok) return response;
    throw await toError(response, target);
  }
  return {
    local: false,
    async call<I, R>(operation: TypedOperation<I, R>, input: I): Promise<R> {
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
): { path: string; body: string | undefined } {
  let path = `/api${operation.path}`;
  for (const name of parameterNames(operation.path))
    path = path.replace(`{${name}}`, encodeURI(String(input[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries((input.query as object | undefined) ?? {})) {
    if (value !== undefined && value !== null)
      query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const search = query.size > 0 ? `?${query}` : "";
  return { path: path + search, body: "body" in input ? JSON.stringify(input.body) : undefined };
}

const MEDIA_TYPE: Record<string, string> = { json: "application/json", text: "text/plain" };

/** Whether it can be an answer of this operation, not a page of whatever else listens there. */
function isOfService(response: Response, operation: { responds: { kind: string } }): boolean {
  if (!response.ok) return response.headers.has("svc-error");
  const expected = MEDIA_TYPE[operation.responds.kind];
  return expected === undefined || (response.headers.get("content-type") ?? "").startsWith(expected);
}

function notTheService(response: Response, { url }: Target): CliError {
  return new CliError("Unreachable", `what listens on ${url} is not svc: it answered ${response.status}`, {
    hint: "check --url: it is the server's address, without a path",
    exit_code: EXIT.unreachable,
  });
}

/** What the service refused, with its advice. */
export async function toError(response: Response, { token }: Target): Promise<CliError> {
  const name = response.headers.get("svc-error") ?? "Internal";
  const [message = "", ...hint] = (await response.text()).split("\n");
  const unknown = response.status === 401;
  const advice = token
    ? "check the token (--token or SVC_TOKEN), and whether it is meant for this workspace"
    : "log in with svc login, or give a token with --token or SVC_TOKEN";
  return new CliError(name, message || `the server answered ${response.status}`, {
    hint: hint.join("\n") || (unknown ? advice : undefined),
    exit_code: unknown ? EXIT.unreachable : EXIT.failed,
  });
}
