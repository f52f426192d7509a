/**
 * Sealing comes before the transaction that stores what was sealed. Between them the workspace's key may be exchanged:
 * the texts that are stored follow it then, one that is on its way would open for nobody. So whoever stores it looks.
 */

import type { Reader, Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { renewing } from "../../tenancy/workspaces/secrets.ts";
import { MARK, type Runner } from "./password-arguments.ts";

const SEALED = /\$encrypted:(v1:[A-Za-z0-9+/=]+)/g;

/** Sealed with a key that was exchanged before it was stored. */
export class StaleSeal extends Error {}

/**
 * The same JSON with what an exchanged key has sealed in it sealed with the one that holds.
 * @param db the transaction that is about to store it: from then on it follows the key as all that is stored does
 */
export async function withCurrentKey(app: App, db: Reader, runner: Runner, json: string): Promise<string> {
  if (!json.includes(MARK)) return json;
  const renew = await renewing(app, db, runner.workspace_id);
  return json.replace(SEALED, (_, text: string) => MARK + renew(text, runner.email));
}

/** JSON, and whom the values that are sealed in it are for. */
export type ForRunner = readonly [runner: Runner, json: string];

/** @param all of one workspace @throws StaleSeal when one of them cannot be stored as it is */
export async function refuseStale(app: App, tx: Tx, all: readonly ForRunner[]): Promise<void> {
  const holding = all.filter(([, json]) => json.includes(MARK));
  if (holding.length === 0) return;
  const renew = await renewing(app, tx, holding[0]![0].workspace_id);
  for (const [{ email }, json] of holding) {
    for (const [, text] of json.matchAll(SEALED)) if (renew(text!, email) !== text) throw new StaleSeal();
  }
}

/**
 * Has a job that is about to be stored keep its sealed arguments.
 * @param begun whether something else has been made of them already
 * @throws StaleSeal when that has to be made anew
 */
export async function keepSeals(app: App, tx: Tx, job: Job, begun: boolean): Promise<void> {
  const args = await withCurrentKey(app, tx, job, job.args);
  if (args === job.args) return;
  if (begun) throw new StaleSeal();
  job.args = args;
}

/** A job that was stored before as it can be stored again, where StaleSeal says that it cannot. */
export async function jobSealedAnew(app: App, job: Job): Promise<Job> {
  const anew = (json: string) => withCurrentKey(app, app.db.read, job, json);
  const { args, raw_flow, flow_body } = job;
  return {
    ...job,
    args: await anew(args),
    raw_flow: raw_flow && (await anew(raw_flow)),
    flow_body: flow_body && (await anew(flow_body)),
  };
}
