import { BadRequest } from "../errors.ts";
import { SERVER_GROUPS } from "./server-groups.ts";

const PATH_PATTERN = /^[ufg](\/[\w-]+){2,}$/;
const WORKSPACE_ID_PATTERN = /^\w+(-\w+)*$/;
const USERNAME_PATTERN = /^[a-zA-Z][a-zA-Z_0-9]*$/;
const EMAIL_PATTERN = /^[^\s@]+@[^\s@]+$/;

/** Maximum path length; paths appear in file names, headers and index rows. */
const MAX_PATH = 255;

/**
 * Normalises an item's path: `u/<user>/<name>`, `f/<folder>/<name>` or `g/<group>/<name>`, possibly with more parts.
 * @throws BadRequest with the expected form
 */
export function parsePath(path: string): string {
  const clean = path.startsWith("/") ? path.slice(1) : path;
  if (clean.length > MAX_PATH || !PATH_PATTERN.test(clean)) {
    throw new BadRequest(
      `"${path.slice(0, MAX_PATH)}" is not a path: it must look like u/<user>/<name> or f/<folder>/<name>, of letters, digits, _ and -`,
    );
  }
  return clean;
}

/** Returns the id if it is valid. @throws BadRequest otherwise */
export function parseWorkspaceId(id: string): string {
  if (id.length > 50 || !WORKSPACE_ID_PATTERN.test(id)) {
    throw new BadRequest(
      `"${id.slice(0, 60)}" cannot be a workspace id: use letters, digits, _ and single dashes, 50 characters at most`,
    );
  }
  return id;
}

const FOLDER_OR_GROUP_PATTERN = /^[\w-]{1,50}$/;

/** Keys that every JavaScript object inherits; scripts that index objects by name would confuse them. */
const OBJECT_KEYS: readonly string[] = ["__proto__", "constructor", "prototype"];

/**
 * Rejects names that are keys of every JavaScript object, such as `__proto__`.
 * @throws BadRequest if the name is such a key
 */
export function requireNotObjectKey(what: string, name: string): void {
  if (!OBJECT_KEYS.includes(name)) return;
  throw new BadRequest(`"${name}" cannot be a ${what}: every JavaScript object has that key`);
}

/** Returns the name if it is valid. @throws BadRequest otherwise */
export function parseFolderOrGroupName(kind: "folder" | "group", name: string): string {
  requireNotObjectKey(kind, name);
  if (FOLDER_OR_GROUP_PATTERN.test(name)) return name;
  throw new BadRequest(
    `"${name.slice(0, 60)}" cannot be a ${kind}: use letters, digits, _ and -, 50 characters at most`,
  );
}

/** Username recorded for unauthenticated callers. */
const ANONYMOUS_USERNAME = "anonymous";

/** Returns the username if it is valid. @throws BadRequest otherwise */
export function parseUsername(username: string): string {
  if (username === ANONYMOUS_USERNAME)
    throw new BadRequest(`"${ANONYMOUS_USERNAME}" cannot be a username: it names callers without a login`);
  if (SERVER_GROUPS.includes(username))
    throw new BadRequest(
      `"${username}" cannot be a username: jobs that the server starts are shown under it`,
    );
  requireNotObjectKey("username", username);
  if (username.length > 50 || !USERNAME_PATTERN.test(username)) {
    throw new BadRequest(
      `"${username.slice(0, 60)}" cannot be a username: begin with a letter, then letters, digits and _, 50 characters at most`,
    );
  }
  return username;
}

/**
 * Normalises an e-mail address to its stored form (lower case).
 * @throws BadRequest if it is not an address
 */
export function parseEmail(email: string): string {
  const clean = email.trim().toLowerCase();
  if (clean.length > 254 || !EMAIL_PATTERN.test(clean)) {
    throw new BadRequest(`"${email.slice(0, 80)}" is not an e-mail address`);
  }
  return clean;
}

/** E-mail of the machine's local admin, who has no account. */
export const LOCAL_ADMIN_EMAIL = "local-admin@localhost";

/** The local admin's former address: stored jobs and schedules may still run as it. */
const FORMER_LOCAL_ADMIN_EMAIL = "operator@localhost";

/** Returns whether the address is that of the local admin, now or in stored data. */
export function isLocalAdminEmail(email: string): boolean {
  return email === LOCAL_ADMIN_EMAIL || email === FORMER_LOCAL_ADMIN_EMAIL;
}

/** RFC 5322 §3.2.3 with letters of all scripts, but without `/`, which separates names such as `g/ops`. */
const NEW_EMAIL_PATTERN =
  /^[\p{L}\p{N}!#$%&'*+=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+=?^_`{|}~-]+)*@[\p{L}\p{N}]+([.-]+[\p{L}\p{N}]+)*$/u;

/**
 * Normalises the address of a new account, member or invite. It must not be confusable with a group, the local admin,
 * or a look-alike address (Unicode NFKC).
 * @throws BadRequest
 */
export function parseNewEmail(given: string): string {
  const email = parseEmail(given);
  if (isLocalAdminEmail(email)) throw new BadRequest(`"${email}" is the local admin of the machine`);
  if (NEW_EMAIL_PATTERN.test(email) && given.normalize("NFKC") === given) return email;
  throw new BadRequest(
    `"${email.slice(0, 80)}" cannot be the address of an account: write it plainly, without / and without look-alike characters`,
  );
}

/** Derives a username from the local part of an address: `ann.lee@x.org` → `ann_lee`. */
export function deriveUsername(email: string): string {
  const local = email.split("@")[0]!.replace(/[^a-zA-Z0-9_]/g, "_");
  const reserved = [ANONYMOUS_USERNAME, ...SERVER_GROUPS, ...OBJECT_KEYS].includes(local);
  return (/^[a-zA-Z]/.test(local) && !reserved ? local : `u${local}`).slice(0, 50);
}
