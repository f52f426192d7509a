import { BadRequest } from "../errors.ts";

const PATH = /^[ufg](\/[\w-]+){2,}$/;
const WORKSPACE_ID = /^\w+(-\w+)*$/;
const USERNAME = /^[a-zA-Z][a-zA-Z_0-9]*$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The longest path: it stands in file names, headers and index rows. */
const MAX_PATH = 255;

/**
 * Checks the path of an item: `u/<user>/<name>`, `f/<folder>/<name>` or `g/<group>/<name>`, with more parts allowed.
 * @throws BadRequest naming the path and what would be right
 */
export function checkPath(path: string): string {
  const clean = path.startsWith("/") ? path.slice(1) : path;
  if (clean.length > MAX_PATH || !PATH.test(clean)) {
    throw new BadRequest(
      `"${path.slice(0, MAX_PATH)}" is not a path: it must look like u/<user>/<name> or f/<folder>/<name>, of letters, digits, _ and -`,
    );
  }
  return clean;
}

/** @throws BadRequest when the text cannot name a workspace */
export function checkWorkspaceId(id: string): string {
  if (id.length > 50 || !WORKSPACE_ID.test(id)) {
    throw new BadRequest(
      `"${id.slice(0, 60)}" cannot be a workspace id: use letters, digits, _ and single dashes, 50 characters at most`,
    );
  }
  return id;
}

const PLACE_NAME = /^[\w-]{1,50}$/;

/** Keys that every JavaScript object has already: programs that keep things by name would mix them up. */
const OBJECT_KEYS: readonly string[] = ["__proto__", "constructor", "prototype"];

/** @throws BadRequest when the text cannot name something new */
export function refuseObjectKey(what: string, name: string): void {
  if (!OBJECT_KEYS.includes(name)) return;
  throw new BadRequest(`"${name}" cannot be a ${what}: every JavaScript object has that key`);
}

/** @throws BadRequest when the text cannot name a folder or group */
export function checkPlaceName(kind: "folder" | "group", name: string): string {
  refuseObjectKey(kind, name);
  if (PLACE_NAME.test(name)) return name;
  throw new BadRequest(
    `"${name.slice(0, 60)}" cannot be a ${kind}: use letters, digits, _ and -, 50 characters at most`,
  );
}

/** Who started a job when nobody did. */
const NOBODY = "anonymous";
/** The groups that the server itself starts jobs as, which are shown like usernames. */
const OF_SERVER: readonly string[] = ["error_handler", "chat"];

/** @throws BadRequest when the text cannot be a username */
export function checkUsername(username: string): string {
  if (username === NOBODY)
    throw new BadRequest(`"${NOBODY}" cannot be a username: it names callers without a login`);
  if (OF_SERVER.includes(username))
    throw new BadRequest(
      `"${username}" cannot be a username: jobs that the server starts are shown under it`,
    );
  refuseObjectKey("username", username);
  if (username.length > 50 || !USERNAME.test(username)) {
    throw new BadRequest(
      `"${username.slice(0, 60)}" cannot be a username: begin with a letter, then letters, digits and _, 50 characters at most`,
    );
  }
  return username;
}

/**
 * Brings an e-mail address to the form it is stored in (lower case).
 * @throws BadRequest when it has no form of an address
 */
export function checkEmail(email: string): string {
  const clean = email.trim().toLowerCase();
  if (clean.length > 254 || !EMAIL.test(clean)) {
    throw new BadRequest(`"${email.slice(0, 80)}" is not an e-mail address`);
  }
  return clean;
}

/** The local admin of the machine, who is no account. */
export const LOCAL_ADMIN_EMAIL = "operator@localhost";

/** RFC 5322 §3.2.3 with the letters of all scripts, without `/`, which stands in names such as `g/ops`. */
const NEW_EMAIL =
  /^[\p{L}\p{N}!#$%&'*+=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+=?^_`{|}~-]+)*@[\p{L}\p{N}]+([.-]+[\p{L}\p{N}]+)*$/u;

/**
 * The same, for an address that is to become an account, a member or an invite: one that cannot be taken for a group, for
 * the local admin, or for another address that looks or folds alike (Unicode NFKC).
 * @throws BadRequest
 */
export function checkNewEmail(given: string): string {
  const email = checkEmail(given);
  if (email === LOCAL_ADMIN_EMAIL) throw new BadRequest(`"${email}" is the local admin of the machine`);
  if (NEW_EMAIL.test(email) && given.normalize("NFKC") === given) return email;
  throw new BadRequest(
    `"${email.slice(0, 80)}" cannot be the address of an account: write it plainly, without / and without look-alike characters`,
  );
}

/** A username made of the local part of an address: `ann.lee@x.org` → `ann_lee`. */
export function usernameFromEmail(email: string): string {
  const local = email.split("@")[0]!.replace(/[^a-zA-Z0-9_]/g, "_");
  const reserved = [NOBODY, ...OF_SERVER, ...OBJECT_KEYS].includes(local);
  return (/^[a-zA-Z]/.test(local) && !reserved ? local : `u${local}`).slice(0, 50);
}
