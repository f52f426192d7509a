/** Signed links to stored files: whoever holds one may read that file until it ends, without a login. */
import { timingSafeEqual } from "node:crypto";
import { NotFound, Unauthorized } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { workspaceHmac } from "../../tenancy/workspaces/secrets.ts";
import { DEFAULT_STORAGE } from "./service.ts";

const MIN_S = 60;
const MAX_S = 7 * 86_400;
const USUAL_S = 43_200;

/** Which file a link is for. */
export interface Linked {
  workspace_id: string;
  /** Absent means the same as `_default_`. */
  storage: string | undefined;
  key: string;
}

/**
 * What is written behind `?` in a link.
 * @param lasts_s seconds; brought between a minute and 7 days, 12 hours when undefined
 */
export async function signLink(app: App, file: Linked, lasts_s: number = USUAL_S): Promise<string> {
  const lasts = Math.min(MAX_S, Math.max(MIN_S, lasts_s));
  const exp = Math.floor(app.clock().getTime() / 1000) + lasts;
  return `exp=${exp}&sig=${(await digest(app, file, exp)).toString("hex")}`;
}

/** It ends with the workspace's key too. */
function digest(app: App, { workspace_id, storage, key }: Linked, exp: number): Promise<Buffer> {
  const said = JSON.stringify([storage || DEFAULT_STORAGE, key, exp]);
  return workspaceHmac(app, workspace_id, "stored file", [said]);
}

/**
 * @param exp seconds since 1970, as the link says
 * @throws Unauthorized, also for a workspace that there is not: a stranger learns nothing of either
 */
export async function checkLink(app: App, file: Linked, exp: number, sig: string): Promise<void> {
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(sig) ? sig : "", "hex");
  const right = await digest(app, file, exp).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
  if (!right || given.length !== right.length || !timingSafeEqual(given, right)) {
    throw new Unauthorized("the signature of the link does not fit this file");
  }
  if (exp * 1000 <= app.clock().getTime()) {
    throw new Unauthorized("the link has ended", { hint: "ask who made it for a new one" });
  }
}
