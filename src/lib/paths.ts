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

/** @throws BadRequest when the text cannot name a folder or group */
export function checkPlaceName(kind: "folder" | "group", name: string): string {
  if (PLACE_NAME.test(name)) return name;
  throw new BadRequest(
    `"${name.slice(0, 60)}" cannot be a ${kind}: use letters, digits, _ and -, 50 characters at most`,
  );
}

/** Who started a job when nobody did. */
const NOBODY = "anonymous";

/** @throws BadRequest when the text cannot be a username */
export function checkUsername(username: string): string {
  if (username === NOBODY)
    throw new BadRequest(`"${NOBODY}" cannot be a username: it names callers without a login`);
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

/** A username made of the local part of an address: `ann.lee@x.org` → `ann_lee`. */
export function usernameFromEmail(email: string): string {
  const local = email.split("@")[0]!.replace(/[^a-zA-Z0-9_]/g, "_");
  return (/^[a-zA-Z]/.test(local) && local !== NOBODY ? local : `u${local}`).slice(0, 50);
}
