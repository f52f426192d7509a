/**
 * Rotates the key of a workspace. The first transaction stores the new key beside the old one, which still decrypts
 * existing values (tenancy/workspaces/secrets.ts). All stored values are then re-encrypted in batches. The last
 * transaction removes the old key. After a restart, an interrupted rotation continues.
 */
import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { defineResumable, requireNoOperation } from "../../tenancy/resumable/service.ts";
import {
  activateKey,
  createArgumentPurpose,
  createKey,
  lockKey,
  readStoredKeys,
  reencryptText,
} from "../../tenancy/workspaces/secrets.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { reencryptStored } from "./encrypted-columns.ts";
import { reencryptOwnSecrets, reencryptSecrets } from "./secret-columns.ts";

/** The id of a workspace and its key: every ciphertext is bound to both. */
export type KeyOwner = Parameters<typeof reencryptText>[1];

const keyRotation = defineResumable<{ workspace_id: string }, number>("the exchange of the key", {
  hold: () => {},
  async finish(app, { workspace_id }) {
    const { current, previous } = await readStoredKeys(app, app.db.read, workspace_id);
    if (!previous) return 0;
    const [from, to] = [previous, current].map((key) => ({ workspace_id, key }));
    return reencryptWorkspace(app, from!, to!, (tx) =>
      tx.update(workspaces).set({ previous_wrapped_key: null }).where(eq(workspaces.id, workspace_id)),
    );
  },
});

/**
 * Re-encrypts all stored values of a workspace, in batches, for another key or id. It may be repeated.
 * @param from current id of the rows, with its key
 * @param last work for the last transaction
 * @returns the number of re-encrypted secrets
 */
export async function reencryptWorkspace(
  app: App,
  from: KeyOwner,
  to: KeyOwner,
  last?: (tx: Tx) => Promise<unknown>,
): Promise<number> {
  const { workspace_id } = from;
  const count = await reencryptSecrets(app, workspace_id, (text) => reencryptText(text, from, to));
  await reencryptStored(app, workspace_id, (text, email) => {
    const own = email === undefined ? undefined : reencryptText(text, from, to, createArgumentPurpose(email));
    return own ?? reencryptText(text, from, to);
  });
  await app.db.write(async (tx) => {
    for (const { on } of app.features) await on?.workspaceKeyChanged?.(app, tx, workspace_id);
    await last?.(tx);
  });
  return count;
}

/** Rotations running in this process, by workspace; those of one workspace run in sequence. */
const rotations = memoizePerApp<App, Map<string, Promise<unknown>>>(() => new Map());

/**
 * Replaces the key and re-encrypts all values.
 * @returns the number of re-encrypted secrets
 * @throws BadRequest while another operation on the workspace is unfinished
 */
export async function rotateKey(ctx: WorkspaceContext, text: string): Promise<number> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const others = rotations(app);
  const before = others.get(workspace_id);
  const rotation = (async () => {
    await before?.catch(() => {});
    const key = await createKey(app, workspace_id, text);
    const operation = await ctx.write(audited(workspace_id, false), async (tx) => {
      const { current } = await lockAndRead(app, tx, workspace_id);
      await storeKey(tx, workspace_id, { wrapped_key: key.wrapped, previous_wrapped_key: current.wrapped });
      tx.afterCommit(() => activateKey(app, workspace_id, key, { keep: true }));
      return keyRotation.start(app, tx, workspace_id, { workspace_id });
    });
    return keyRotation.run(app, operation);
  })();
  others.set(workspace_id, rotation);
  try {
    return await rotation;
  } finally {
    if (others.get(workspace_id) === rotation) others.delete(workspace_id);
  }
}

/** Replaces the key without re-encrypting values that another instance may have encrypted with the new key. */
export async function replaceKey(ctx: WorkspaceContext, text: string): Promise<void> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const key = await createKey(app, workspace_id, text);
  await ctx.write(audited(workspace_id, true), async (tx) => {
    await requireNoOperation(tx, workspace_id);
    const { current } = await lockAndRead(app, tx, workspace_id);
    const [from, to] = [current, key].map((each) => ({ workspace_id, key: each }));
    await reencryptOwnSecrets(app, tx, workspace_id, (own) => reencryptText(own, from!, to!));
    for (const { on } of app.features) await on?.workspaceKeyChanged?.(app, tx, workspace_id);
    await storeKey(tx, workspace_id, { wrapped_key: key.wrapped });
    tx.afterCommit(() => activateKey(app, workspace_id, key, { keep: false }));
  });
}

const audited = (resource: string, skip: boolean) => ({
  resource,
  parameters: { skip_reencrypt: String(skip) },
});

async function lockAndRead(app: App, tx: Tx, workspace_id: string) {
  await lockKey(tx, workspace_id);
  return readStoredKeys(app, tx, workspace_id);
}

async function storeKey(
  tx: Tx,
  workspace_id: string,
  keys: Partial<typeof workspaces.$inferInsert>,
): Promise<void> {
  await tx.update(workspaces).set(keys).where(eq(workspaces.id, workspace_id));
}
