/** Signatures of approval links. The holder of a link may answer without a login, unless the flow requires one. */
import { timingSafeEqual } from "node:crypto";
import { BadRequest, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { signForWorkspace } from "../../tenancy/workspaces/signing.ts";

/** The signed parameters of a link. */
export interface LinkRequest {
  /** The job of the step that asks, in lower case. */
  job_id: string;
  /** 0 to 2^32 - 1, chosen by the creator of the link. Each number answers once. */
  resume_id: number;
  /** The approver for whom the link was created. */
  approver: string | undefined;
}

/** Parses the parameters of an approval URL. @throws BadRequest */
export function parseLinkRequest(
  { job_id, resume_id }: { job_id: string; resume_id: string },
  { approver }: { approver?: string | undefined },
): LinkRequest {
  if (!isUuid(job_id)) throw new BadRequest(`"${job_id.slice(0, 60)}" is not a job id: it must be a UUID`);
  const number = Number(resume_id);
  if (!/^\d{1,10}$/.test(resume_id) || number > 0xffffffff) {
    throw new BadRequest(
      `"${resume_id.slice(0, 60)}" is not a resume id: it must be a whole number below 2^32`,
    );
  }
  return { job_id: job_id.toLowerCase(), resume_id: number, approver: approver || undefined };
}

/**
 * Signs an approval link.
 * @returns hex of HMAC-SHA256 over the job's 16 bytes, the resume id as 4 bytes (big-endian) and the approver's text
 */
export async function signApproval(app: App, workspace_id: string, request: LinkRequest): Promise<string> {
  return (await createDigest(app, workspace_id, request)).toString("hex");
}

function createDigest(
  app: App,
  workspace_id: string,
  { job_id, resume_id, approver }: LinkRequest,
): Promise<Buffer> {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(resume_id);
  const job = Buffer.from(job_id.replaceAll("-", ""), "hex");
  return signForWorkspace(app, workspace_id, "approval", [job, number, approver ?? ""]);
}

/**
 * Verifies the signature of an approval link.
 * @throws Unauthorized, also for an unknown workspace, so that outsiders do not learn which exist
 */
export async function requireApprovalSignature(
  app: App,
  workspace_id: string,
  request: LinkRequest,
  signature: string,
): Promise<void> {
  const given = Buffer.from(/^[0-9a-f]{64}$/i.test(signature) ? signature : "", "hex");
  const right = await createDigest(app, workspace_id, request).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
  if (right && given.length === right.length && timingSafeEqual(given, right)) return;
  throw new Unauthorized("the signature does not match this job, resume id and approver");
}
