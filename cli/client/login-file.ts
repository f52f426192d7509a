/** The file in which `svc login` stores the server and the session token, readable by its owner only. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { CliError } from "../terminal/text/failure.ts";
import { getUserFile } from "./data-directory.ts";
import { normaliseServerUrl } from "./transport.ts";

export interface Login {
  /** The server's address, without a trailing slash. */
  url: string;
  email: string;
  /** Token of a session, or a given token. */
  token: string;
  /** Whether the token was given by --with-token; a logout does not revoke it. */
  is_token?: boolean;
}

const loginFile = () => getUserFile("login.json");

/** Reads the stored login; undefined if there is none. @throws CliError if the file is damaged */
export function readLogin(): Login | undefined {
  const file = loginFile();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new CliError("Login", `${file} cannot be read: ${code}`, { hint: "svc login writes it again" });
  }
  try {
    const { url, email, token, is_token } = JSON.parse(text) as Partial<Login>;
    if (url && email && token) return { url, email, token, ...(is_token && { is_token }) };
  } catch {
    // Invalid JSON is reported below, like an invalid login.
  }
  throw new CliError("Login", `${file} is damaged`, { hint: "svc login writes it again" });
}

export function writeLogin(login: Login): void {
  const file = loginFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Written to a new file and renamed, so that it is never incomplete or readable by others.
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(login, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, file);
}

export function deleteLogin(): void {
  rmSync(loginFile(), { force: true });
}

/** Whether two URLs belong to the same server: a token is sent to no other. */
export function isSameServer(one: string, other: string): boolean {
  return withLoopbackName(normaliseServerUrl(one)) === withLoopbackName(normaliseServerUrl(other));
}

/** Treats addresses of this machine, and the unspecified address, as one server. */
function withLoopbackName(url: string): string {
  return url.replace(/^(https?:\/\/)(127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(?=[:/]|$)/, "$1localhost");
}
