/** Signatures with keys that are derived from a workspace's key. */
import { createHmac, hkdfSync } from "node:crypto";
import type { App } from "../../../platform/app/context.ts";
import { getWorkspaceKey } from "./secrets.ts";

/** Purposes of signatures. Each has its own derived key, so a signature is valid for one purpose only. */
export type SigningPurpose = "approval" | "stored file" | "public app";

/**
 * Returns an HMAC-SHA256 (RFC 2104) over the pieces, with a key derived from the workspace's key for this purpose
 * (HKDF-SHA256, RFC 5869).
 * @throws NotFound for an unknown workspace
 */
export async function signForWorkspace(
  app: App,
  workspace_id: string,
  purpose: SigningPurpose,
  pieces: readonly (string | Uint8Array)[],
): Promise<Buffer> {
  const { bytes } = await getWorkspaceKey(app, workspace_id);
  const key = hkdfSync("sha256", bytes, workspace_id, `svc signing ${purpose}`, 32);
  const hmac = createHmac("sha256", Buffer.from(key));
  for (const piece of pieces) hmac.update(piece);
  return hmac.digest();
}
