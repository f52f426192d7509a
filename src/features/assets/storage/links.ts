/**
 * Signed links to stored files: the holder may read the file without a login until the link expires.
 *
 * `link-operations.ts` decides who may create and follow them; `openConfiguredStore` in `service.ts` reads the file. The
 * signature depends on the workspace's key, so links end when the key is rotated.
 */
import { timingSafeEqual } from "node:crypto";
import { NotFound, Unauthorized } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { signForWorkspace } from "../../tenancy/workspaces/signing.ts";
import { DEFAULT_STORAGE } from "./service.ts";

const MIN_LIFETIME_S = 60;
const MAX_LIFETIME_S = 7 * 86_400;
const DEFAULT_LIFETIME_S = 43_200;

/** The file a link is for. */
export interface LinkedFile {
  workspace_id: string;
  /** Undefined means `_default_`. */
  storage: string | undefined;
  key: string;
}

/**
 * Returns the query string of a signed link.
 * @param lasts_s lifetime in seconds, clamped to a minute to 7 days; 12 hours by default
 */
export async function signLink(
  app: App,
  file: LinkedFile,
  lasts_s: number = DEFAULT_LIFETIME_S,
): Promise<string> {
  const lasts = Math.min(MAX_LIFETIME_S, Math.max(MIN_LIFETIME_S, lasts_s));
  const exp = Math.floor(app.clock().getTime() / 1000) + lasts;
  return `exp=${exp}&sig=${(await signFile(app, file, exp)).toString("hex")}`;
}

/** Signs with a key derived from the workspace's, so rotating that invalidates all links. */
function signFile(app: App, { workspace_id, storage, key }: LinkedFile, exp: number): Promise<Buffer> {
  const said = JSON.stringify([storage || DEFAULT_STORAGE, key, exp]);
  return signForWorkspace(app, workspace_id, "stored file", [said]);
}

/**
 * Verifies a link.
 * @param exp the link's expiry, in seconds since 1970
 * @throws Unauthorized, also for an unknown workspace, so that strangers learn nothing
 */
export async function requireValidLink(app: App, file: LinkedFile, exp: number, sig: string): Promise<void> {
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(sig) ? sig : "", "hex");
  const right = await signFile(app, file, exp).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
  if (!right || given.length !== right.length || !timingSafeEqual(given, right)) {
    throw new Unauthorized("the signature of the link does not match this file");
  }
  if (exp * 1000 <= app.clock().getTime()) {
    throw new Unauthorized("the link has expired", { hint: "ask its creator for a new one" });
  }
}
