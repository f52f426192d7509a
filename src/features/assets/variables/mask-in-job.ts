/** Masks a secret in the logs of a job, on whichever server the job runs. */

import { decryptText, encryptText } from "../../../lib/crypto/seal.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineQuery } from "../../../platform/cluster/request-reply.ts";

/** Upper limit of a secret sent to other servers: it must fit into one message, encrypted. */
const MAX_SECRET_BYTES = 5_000;
const MASKED = "masked";

const secretPurpose = (job_id: string) => `secret told to job ${job_id}`;

const queryMask = defineQuery<[job_id: string, sealed: string]>("mask", (app, job_id, sealed) => {
  const secret = decryptText(app.instanceKey, sealed, secretPurpose(job_id));
  return secret !== undefined && app.runner.maskSecret(job_id, secret) ? MASKED : undefined;
});

/**
 * Masks a secret; call it before a job is given the secret.
 * @returns false if it could not be masked, so that the secret must not be disclosed. The job has ended, or it runs on
 * another server and the secret is too long for a message
 */
export async function maskInJob(app: App, job_id: string, secret: string): Promise<boolean> {
  if (app.runner.maskSecret(job_id, secret)) return true;
  if (!app.db.channel || Buffer.byteLength(secret) > MAX_SECRET_BYTES) return false;
  return (
    (await queryMask(app, job_id, encryptText(app.instanceKey, secret, secretPurpose(job_id)))) === MASKED
  );
}
