/**
 * Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a repeated POST starts no second job and gets the result
 * of the first. Keys belong to a caller and a workspace.
 */
import { createHmac } from "node:crypto";
import { and, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Conflict, IdempotencyKeyReused } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { idempotencyKeys, type Job } from "../../../platform/queue/tables.ts";
import { discardUploads } from "../arguments/form-data.ts";
import { findJob } from "./find-and-cancel.ts";
import type { RunOptions, Submission } from "./submission.ts";
import { submitJob } from "./submit.ts";

const MAX_KEY_CHARS = 255;

/**
 * Parses the request's key: a structured string ("…", RFC 9651 §3.3.3), or bare as most clients send it.
 * @throws BadRequest if it is empty or too long, or on a GET request
 */
export function parseIdempotencyKey(request: Request): string | undefined {
  const header = request.headers.get("idempotency-key");
  if (header === null) return undefined;
  if (request.method !== "POST")
    throw new BadRequest("Idempotency-Key is only allowed with POST, not with GET");
  const key = /^"(.*)"$/.exec(header.trim())?.[1]?.replace(/\\(["\\])/g, "$1") ?? header.trim();
  if (!/^[\x20-\x7e]+$/.test(key) || key.length > MAX_KEY_CHARS) {
    throw new BadRequest(
      `header Idempotency-Key: must be 1 to ${MAX_KEY_CHARS} printable ASCII characters, such as a UUID`,
    );
  }
  return key;
}

/** Another request stored the key between the check and the transaction. */
class KeyTaken extends Error {
  readonly job_id: string;
  constructor(job_id: string) {
    super("repeated");
    this.job_id = job_id;
  }
}

/**
 * Submits a job unless its key is stored already.
 * @returns id of the key's job, and whether it existed before
 * @throws IdempotencyKeyReused if the key was used for another request
 */
export async function submitIdempotently(
  ctx: WorkspaceContext,
  key: string,
  submission: Submission,
  options: RunOptions,
  { hasGeneratedId }: { hasGeneratedId: boolean } = { hasGeneratedId: false },
): Promise<{ id: string; repeated: boolean }> {
  const fingerprint = createFingerprint(ctx, submission, options);
  const known = await findKey(ctx, ctx.app.db.read, key, fingerprint);
  if (known) {
    await discardUploads(ctx.request);
    return { id: known, repeated: true };
  }
  try {
    const job = await submitJob(ctx, submission, options, {
      hasGeneratedId,
      inTransaction: (tx, job_id) => storeKey(ctx, tx, { key, fingerprint, job_id }),
    });
    return { id: job.id, repeated: false };
  } catch (error) {
    if (error instanceof KeyTaken) return { id: error.job_id, repeated: true };
    throw error;
  }
}

/** Returns the job that a key belongs to. @throws Conflict if it is no longer stored */
export async function getJobOfKey(ctx: WorkspaceContext, id: string): Promise<Job> {
  const job = await findJob(ctx.app, ctx.caller.member.workspace_id, id);
  if (!job) throw new Conflict(`job ${id}, to which the Idempotency-Key belongs, is no longer stored`);
  return job;
}

async function storeKey(
  ctx: WorkspaceContext,
  tx: Tx,
  row: { key: string; fingerprint: string; job_id: string },
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const { email } = ctx.caller.identity;
  await tx.lock(`idempotency ${workspace_id} ${email} ${row.key}`);
  const known = await findKey(ctx, tx, row.key, row.fingerprint);
  if (known) throw new KeyTaken(known);
  await tx.insert(idempotencyKeys).values({ ...row, workspace_id, email, created_at: ctx.app.clock() });
}

async function findKey(
  ctx: WorkspaceContext,
  db: Reader,
  key: string,
  fingerprint: string,
): Promise<string | undefined> {
  const [row] = await db
    .select({ fingerprint: idempotencyKeys.fingerprint, job_id: idempotencyKeys.job_id })
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.workspace_id, ctx.caller.member.workspace_id),
        eq(idempotencyKeys.email, ctx.caller.identity.email),
        eq(idempotencyKeys.key, key),
      ),
    );
  if (row && row.fingerprint !== fingerprint) {
    throw new IdempotencyKeyReused(
      `the Idempotency-Key was used for another request, which started job ${row.job_id}: take a new key`,
    );
  }
  return row?.job_id;
}

/** Returns a digest of the request. It is keyed, because a plain digest of short arguments could be guessed back. */
function createFingerprint(ctx: WorkspaceContext, submission: Submission, options: RunOptions): string {
  const { kind, script_path, raw_code } = submission;
  // A form's files get new keys each time it is sent, so they cannot be compared.
  const isForm = ctx.request.headers.get("content-type")?.toLowerCase().startsWith("multipart/");
  const args = isForm ? "form" : (submission.caller_args ?? submission.args);
  const { job_id: _, ...asked } = options;
  return createHmac("sha256", ctx.app.instanceKey)
    .update(JSON.stringify([kind, script_path ?? raw_code, args, asked]))
    .digest("hex");
}
