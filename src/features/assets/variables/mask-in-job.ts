/** Having a secret masked in what a job says, wherever the job runs. */

import { seal, unseal } from "../../../lib/crypto/seal.ts";
import type { App } from "../../../platform/app/context.ts";
import { askedElsewhere } from "../../../platform/cluster/request-reply.ts";

/** What is sealed and told to the other servers goes into one message. */
const MOST_BYTES = 5_000;
const MASKED = "masked";

const boundTo = (job_id: string) => `secret told to job ${job_id}`;

const askToMask = askedElsewhere<[job_id: string, sealed: string]>("mask", (app, job_id, sealed) => {
  const secret = unseal(app.instanceKey, sealed, boundTo(job_id));
  return secret !== undefined && app.runner.mask(job_id, secret) ? MASKED : undefined;
});

/**
 * To be called before a job is told a secret.
 * @returns false when it is not masked, so that the secret must not be told: the job has ended, or it runs on another
 * server and the secret is longer than that one can be told of
 */
export async function maskFor(app: App, job_id: string, secret: string): Promise<boolean> {
  if (app.runner.mask(job_id, secret)) return true;
  if (!app.db.channel || Buffer.byteLength(secret) > MOST_BYTES) return false;
  return (await askToMask(app, job_id, seal(app.instanceKey, secret, boundTo(job_id)))) === MASKED;
}
