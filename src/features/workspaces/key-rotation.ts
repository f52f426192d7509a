/**
 * Another key for a workspace. Everything the old one has sealed is sealed anew, and the key itself is exchanged, in one
 * transaction: whatever happens meanwhile, the old key and the old texts are there, or the new ones. The work of
 * sealing is done before the transaction, so that it is short; what changed in between is done in it.
 */
import { eq } from "drizzle-orm";
import type { App } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import { webhookEndpoints } from "../webhooks/tables.ts";
import { type Changed, sealedOf, storeTexts, textsOf, withTexts } from "./sealed-places.ts";
import { currentKey, keyFrom, lockKey, resealed } from "./secrets.ts";
import { workspaces } from "./tables.ts";

/** Sealed texts between two rests, in which others are served. */
const AT_ONCE = 200;

type Key = Awaited<ReturnType<typeof currentKey>>;

interface Side {
  workspace_id: string;
  key: Key;
}

/** Old texts with the new ones that stand for them. */
type Prepared = Map<string, string>;

async function prepare(app: App, from: Side, to: Side): Promise<Prepared> {
  const prepared: Prepared = new Map();
  let count = 0;
  for (const stored of await sealedOf(app.db.read, from.workspace_id)) {
    for (const text of textsOf(stored)) {
      const anew = sealedAnew(text, from, to, stored.purpose);
      if (anew !== undefined) prepared.set(text, anew);
      if (++count % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return prepared;
}

/** What an argument holds may have been sealed for whom its job runs as, or by somebody for everybody. */
function sealedAnew(text: string, from: Side, to: Side, purpose: string | undefined): string | undefined {
  const forAll = resealed(text, from, to);
  return forAll ?? (purpose === undefined ? undefined : resealed(text, from, to, purpose));
}

/** What webhooks are signed with was sealed here, whatever holds of secrets that came from elsewhere. */
async function exchangeWebhooks(tx: Tx, from: Side, to: Side): Promise<void> {
  const its = await tx
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.workspace_id, from.workspace_id));
  for (const { id, secret, previous_secret } of its) {
    const anew = {
      secret: resealed(secret, from, to) ?? secret,
      previous_secret: previous_secret && (resealed(previous_secret, from, to) ?? previous_secret),
    };
    await tx.update(webhookEndpoints).set(anew).where(eq(webhookEndpoints.id, id));
  }
}

/** What does not open with the old key stays as it is: no key that is known opens it. */
async function exchangeTexts(tx: Tx, from: Side, to: Side, prepared: Prepared): Promise<number> {
  const changed: Changed[] = [];
  let count = 0;
  for (const stored of await sealedOf(tx, from.workspace_id)) {
    const after = withTexts(stored, (text) => {
      const anew = prepared.get(text) ?? sealedAnew(text, from, to, stored.purpose);
      if (anew !== undefined) count++;
      return anew ?? text;
    });
    if (after !== stored.value) changed.push({ ...stored, after });
  }
  await storeTexts(tx, from.workspace_id, changed);
  return count;
}

export interface Exchange {
  /** The key that holds from the commit on. */
  key: Key;
  /**
   * To be called in the transaction, while the rows still carry the old id.
   * @returns how many texts were sealed anew
   */
  store(tx: Tx): Promise<number>;
}

/**
 * Prepares the exchange of a workspace's key, or of its id, which every sealed text is bound to.
 * @param to what changes: the key's text, the workspace's id
 * @param reseal false leaves sealed texts as they are: they were sealed with the new key elsewhere
 * @throws NotFound
 */
export async function prepareExchange(
  app: App,
  workspace_id: string,
  to: { text?: string; workspace_id?: string },
  { reseal }: { reseal: boolean } = { reseal: true },
): Promise<Exchange> {
  const target = to.workspace_id ?? workspace_id;
  const from: Side = { workspace_id, key: await currentKey(app, app.db.read, workspace_id) };
  const after: Side = { workspace_id: target, key: keyFrom(app, target, to.text ?? from.key.text) };
  const prepared: Prepared = reseal ? await prepare(app, from, after) : new Map();
  return {
    key: after.key,
    async store(tx) {
      await lockKey(tx, workspace_id);
      // Somebody else may have changed the key since, and with it every text: what was prepared stands for none then.
      const now: Side = { workspace_id, key: await currentKey(app, tx, workspace_id) };
      const count = reseal ? await exchangeTexts(tx, now, after, prepared) : 0;
      await exchangeWebhooks(tx, now, after);
      await tx
        .update(workspaces)
        .set({ wrapped_key: after.key.wrapped })
        .where(eq(workspaces.id, workspace_id));
      return count;
    },
  };
}
