/**
 * The tokens that jobs are given, as other servers see them: a job may call any of them, by the public address, and only
 * the process that runs it knows it. A token says which process that is, in a way that nobody can make up who has not
 * the instance key: whatever else is unknown costs the other servers nothing.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { App, Identity } from "../../context.ts";
import { askedElsewhere } from "../../events/asking.ts";
import { randomText, sha256 } from "../../lib/ids.ts";
import { tokenCache } from "./cache.ts";

const NONCE_LENGTH = 16;
const MARK_LENGTH = 6;
const PROOF_LENGTH = 10;

/** Random text, whose process minted it, and that it was one of ours: 32 letters and digits. */
export function newJobToken(app: App): string {
  const body = randomText(NONCE_LENGTH) + markOf(app);
  return body + proofOf(app, body);
}

/** Tells a token of another process's job from one that is not, or was minted here. */
export function mayBeJobElsewhere(app: App, value: string): boolean {
  if (!app.db.channel || value.length !== NONCE_LENGTH + MARK_LENGTH + PROOF_LENGTH) return false;
  const body = value.slice(0, -PROOF_LENGTH);
  const proof = Buffer.from(value.slice(-PROOF_LENGTH));
  const wanted = Buffer.from(proofOf(app, body));
  if (proof.length !== wanted.length || !timingSafeEqual(proof, wanted)) return false;
  return !body.endsWith(markOf(app));
}

const markOf = (app: App) => sha256(app.queue.worker).slice(0, MARK_LENGTH);

const proofOf = (app: App, body: string) =>
  createHmac("sha256", app.instanceKey).update(`job token ${body}`).digest("hex").slice(0, PROOF_LENGTH);

const askForJob = askedElsewhere<[hash: string]>("job of token", (app, hash) => {
  const identity = tokenCache(app).jobs.get(hash);
  return identity && JSON.stringify(identity);
});

/** Asked anew each time: a child's token stands for another job as soon as it runs another. */
export async function jobElsewhere(app: App, hash: string): Promise<Identity | undefined> {
  const answer = await askForJob(app, hash);
  return answer === undefined ? undefined : (JSON.parse(answer) as Identity);
}
