/**
 * Detects stale ciphertexts. Values are encrypted before the transaction that stores them. If the workspace's key is
 * rotated in between, the rotation misses them and they could not be decrypted. So each storing transaction checks
 * the key.
 */

import type { Reader, Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { ENCRYPTED_PREFIX } from "../../assets/interpolate.ts";
import { createReencrypter } from "../../tenancy/workspaces/secrets.ts";
import type { RunAs } from "./password-arguments.ts";

const ENCRYPTED_REFERENCE = /\$encrypted:(v1:[A-Za-z0-9+/=]+)/g;

/** Thrown if a value was encrypted with a key that was rotated before the value was stored. */
export class StaleCiphertext extends Error {}

/**
 * Re-encrypts the values in a JSON text that were encrypted with an older key.
 * @param db the storing transaction: later rotations include its rows
 */
export async function reencryptIfStale(app: App, db: Reader, runner: RunAs, json: string): Promise<string> {
  if (!json.includes(ENCRYPTED_PREFIX)) return json;
  const renew = await createReencrypter(app, db, runner.workspace_id);
  return json.replace(ENCRYPTED_REFERENCE, (_, text: string) => ENCRYPTED_PREFIX + renew(text, runner.email));
}

/** A JSON text, and the user for whom its values are encrypted. */
export type JsonForRunAs = readonly [runner: RunAs, json: string];

/** Requires that all values are encrypted with the current key. @param all of one workspace @throws StaleCiphertext */
export async function requireCurrentKey(app: App, tx: Tx, all: readonly JsonForRunAs[]): Promise<void> {
  const holding = all.filter(([, json]) => json.includes(ENCRYPTED_PREFIX));
  if (holding.length === 0) return;
  const renew = await createReencrypter(app, tx, holding[0]![0].workspace_id);
  for (const [{ email }, json] of holding) {
    for (const [, text] of json.matchAll(ENCRYPTED_REFERENCE))
      if (renew(text!, email) !== text) throw new StaleCiphertext();
  }
}

/**
 * Re-encrypts the arguments of a job that is about to be stored.
 * @param begun whether something was already derived from them
 * @returns undefined if there is nothing to do
 * @throws StaleCiphertext if it must be derived again
 */
export function refreshCiphertexts(app: App, tx: Tx, job: Job, begun: boolean): Promise<void> | undefined {
  return job.args.includes(ENCRYPTED_PREFIX) ? renewCiphertexts(app, tx, job, begun) : undefined;
}

async function renewCiphertexts(app: App, tx: Tx, job: Job, begun: boolean): Promise<void> {
  const args = await reencryptIfStale(app, tx, job, job.args);
  if (args === job.args) return;
  if (begun) throw new StaleCiphertext();
  job.args = args;
}

/** Returns a job row with its arguments re-encrypted, to be stored again after StaleCiphertext. */
export async function reencryptJob(app: App, job: Job): Promise<Job> {
  const reencryptJson = (json: string) => reencryptIfStale(app, app.db.read, job, json);
  const { args, raw_flow, flow_body } = job;
  return {
    ...job,
    args: await reencryptJson(args),
    raw_flow: raw_flow && (await reencryptJson(raw_flow)),
    flow_body: flow_body && (await reencryptJson(flow_body)),
  };
}
