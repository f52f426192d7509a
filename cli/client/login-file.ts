/** Where `svc login` keeps which server it logged in to: a file that its owner alone may read. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CliError } from "../terminal/text/failure.ts";
import { baseOf } from "./transport.ts";

export interface Login {
  /** The server's address, without a trailing slash. */
  url: string;
  email: string;
  /** A session's. */
  token: string;
}

/** Below the user's config directory (XDG Base Directory Specification). */
function fileOf(): string {
  const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME || homedir(), ".config");
  return join(config, "svc", "login.json");
}

/** @throws CliError when the file is there and does not hold a login */
export function readLogin(): Login | undefined {
  const file = fileOf();
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const { code } = cause as { code?: string };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new CliError("Login", `${file} cannot be read: ${code}`, { hint: "svc login writes it again" });
  }
  try {
    const { url, email, token } = JSON.parse(text) as Partial<Login>;
    if (url && email && token) return { url, email, token };
  } catch {
    // Told below, as what is no login at all.
  }
  throw new CliError("Login", `${file} is damaged`, { hint: "svc login writes it again" });
}

export function writeLogin(login: Login): void {
  const file = fileOf();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Never there half written, nor with more rights than its owner's for a moment.
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(login, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, file);
}

export function forgetLogin(): void {
  rmSync(fileOf(), { force: true });
}

/** Whether two addresses are of one server: a token goes to no other. */
export function isSameServer(one: string, other: string): boolean {
  return baseOf(one) === baseOf(other);
}
