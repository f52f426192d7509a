/**
 * Another key for a workspace. Everything the old one has sealed is sealed anew, and the key itself is exchanged, in one
 * transaction: whatever happens meanwhile, the old key and the old texts are there, or the new ones. The work of
 * sealing is done before the transaction, so that it is short; what changed in between is done in it.
 */
import { and, eq } from "drizzle-orm";
import { type Reader, statement, type Tx } from "../../../database/database.ts";
import { dialect, sql } from "../../../database/kit.ts";
import type { App } from "../../../platform/app/context.ts";
import { variables } from "../../assets/variable-tables.ts";
import { webhookEndpoints } from "../../signals/webhooks/tables.ts";
import { argumentOf, currentKey, keyFrom, lockKey, resealed } from "../../tenancy/workspaces/secrets.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { resealStored } from "./encrypted-columns.ts";

/** Sealed texts between two rests, in which others are served. */
const AT_ONCE = 200;

type Key = Awaited<ReturnType<typeof currentKey>>;

interface Side {
  workspace_id: string;
  key: Key;
}

type Sealed = {
  path: string;
  value: string;
};

/** Texts of one statement: each takes two of the parameters that both databases allow some thousands of. */
const AT_A_TIME = 500;

const p = sql.placeholder;
const storeOne = statement<Sealed & { workspace_id: string }, unknown>((q) =>
  q
    .update(variables)
    .set({ value: p("value") as never })
    .where(and(eq(variables.workspace_id, p("workspace_id")), eq(variables.path, p("path")))),
);

/** Gives each of the secrets its new text. */
async function store(tx: Tx, workspace_id: string, sealed: readonly Sealed[]): Promise<void> {
  if (dialect === "sqlite") {
    // A statement that is ready costs far less than one with a thousand parameters that has to be read.
    for (const one of sealed) await tx.exec(storeOne, { workspace_id, ...one });
    return;
  }
  for (let at = 0; at < sealed.length; at += AT_A_TIME) {
    const some = sealed.slice(at, at + AT_A_TIME).map(({ path, value }) => sql`(${path}, ${value})`);
    await tx.rows(
      sql`UPDATE ${variables} SET value = anew.column2 FROM (VALUES ${sql.join(some, sql`, `)}) AS anew
          WHERE workspace_id = ${workspace_id} AND path = anew.column1`,
    );
  }
}

const secrets = statement<{ workspace_id: string; yes: boolean }, Sealed[]>((q) =>
  q
    .select({ path: variables.path, value: variables.value })
    .from(variables)
    .where(and(eq(variables.workspace_id, p("workspace_id")), eq(variables.is_secret, p("yes")))),
);

/** Everything that is sealed with the workspace's key and kept. */
function sealedOf(db: Reader, workspace_id: string): Promise<Sealed[]> {
  return db.exec(secrets, { workspace_id, yes: true });
}

/** Old texts with the new ones that stand for them. */
type Prepared = Map<string, string>;

async function prepare(app: App, from: Side, to: Side): Promise<Prepared> {
  const prepared: Prepared = new Map();
  let count = 0;
  for (const { value } of await sealedOf(app.db.read, from.workspace_id)) {
    const anew = resealed(value, from, to);
    if (anew !== undefined) prepared.set(value, anew);
    if (++count % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return prepared;
}

/** What does not open with the old key stays as it is: no key that is known opens it. */
async function exchangeTexts(tx: Tx, from: Side, to: Side, prepared: Prepared): Promise<number> {
  const anew: Sealed[] = [];
  for (const { path, value } of await sealedOf(tx, from.workspace_id)) {
    const text = prepared.get(value) ?? resealed(value, from, to);
    if (text !== undefined) anew.push({ path, value: text });
  }
  await store(tx, from.workspace_id, anew);
  return anew.length;
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
  const after: Side = { workspace_id: target, key: await keyFrom(app, target, to.text ?? from.key.text) };
  const prepared: Prepared = reseal ? await prepare(app, from, after) : new Map();
  return {
    key: after.key,
    async store(tx) {
      await lockKey(tx, workspace_id);
      // Somebody else may have changed the key since, and with it every text: what was prepared stands for none then.
      const now: Side = { workspace_id, key: await currentKey(app, tx, workspace_id) };
      const count = reseal ? await exchangeTexts(tx, now, after, prepared) : 0;
      if (reseal) {
        await resealStored(tx, workspace_id, (text, email) => {
          const own = email === undefined ? undefined : resealed(text, now, after, argumentOf(email));
          return own ?? resealed(text, now, after);
        });
      }
      await exchangeWebhooks(tx, now, after);
      await tx
        .update(workspaces)
        .set({ wrapped_key: after.key.wrapped })
        .where(eq(workspaces.id, workspace_id));
      return count;
    },
  };
}
