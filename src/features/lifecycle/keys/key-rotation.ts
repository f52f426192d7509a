/**
 * Rotates the key of a workspace. One transaction stores the re-encrypted values and the new key, so that key and
 * ciphertexts always match. Values are re-encrypted before the transaction, which keeps it short; it repeats only those
 * that changed in between.
 */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import {
  argumentPurpose,
  createKey,
  lockKey,
  readCurrentKey,
  reencrypt as reencryptText,
} from "../../tenancy/workspaces/secrets.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { reencryptStored } from "./encrypted-columns.ts";
import { prepareSecrets, type ReencryptedTexts, reencryptSecrets } from "./secret-columns.ts";

type WorkspaceKey = Awaited<ReturnType<typeof readCurrentKey>>;

interface KeyOwner {
  workspace_id: string;
  key: WorkspaceKey;
}

export interface KeyRotation {
  /** The key that is valid from the commit on. */
  key: WorkspaceKey;
  /**
   * To be called in the transaction, while the rows still have the old id.
   * @returns how many secrets were re-encrypted
   */
  store(tx: Tx): Promise<number>;
}

/**
 * Prepares the exchange of a workspace's key, or of its id, which every encrypted text is bound to.
 * @param to what changes: the key's text, the workspace's id
 * @param reencrypt false leaves secrets as they are: they were encrypted with the new key elsewhere
 * @throws NotFound
 */
export async function prepareKeyRotation(
  app: App,
  workspace_id: string,
  to: { text?: string; workspace_id?: string },
  { reencrypt }: { reencrypt: boolean } = { reencrypt: true },
): Promise<KeyRotation> {
  const target = to.workspace_id ?? workspace_id;
  const from: KeyOwner = { workspace_id, key: await readCurrentKey(app, app.db.read, workspace_id) };
  const after: KeyOwner = {
    workspace_id: target,
    key: await createKey(app, target, to.text ?? from.key.text),
  };
  const prepared: ReencryptedTexts = reencrypt
    ? await prepareSecrets(app, workspace_id, (text) => reencryptText(text, from, after))
    : new Map();
  return {
    key: after.key,
    async store(tx) {
      await lockKey(tx, workspace_id);
      // The key may have been rotated since; then no prepared text applies, and all are re-encrypted here.
      const now: KeyOwner = { workspace_id, key: await readCurrentKey(app, tx, workspace_id) };
      const count = await reencryptSecrets(app, tx, workspace_id, {
        prepared,
        all: reencrypt,
        reencrypt: (text) => reencryptText(text, now, after),
      });
      if (reencrypt) {
        await reencryptStored(app, tx, workspace_id, (text, email) => {
          const own =
            email === undefined ? undefined : reencryptText(text, now, after, argumentPurpose(email));
          return own ?? reencryptText(text, now, after);
        });
      }
      for (const { on } of app.features) await on?.workspaceKeyChanged?.(app, tx, workspace_id);
      await tx
        .update(workspaces)
        .set({ wrapped_key: after.key.wrapped })
        .where(eq(workspaces.id, workspace_id));
      return count;
    },
  };
}
