/** Signed links: whoever holds one may answer for a step, without a login unless the flow asks for one. */
import { timingSafeEqual } from "node:crypto";
import { BadRequest, NotFound, Unauthorized } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { workspaceHmac } from "../../tenancy/workspaces/secrets.ts";

/** What a signature is made over. */
export interface Request {
  /** The job of the step that asks, in lower case. */
  job_id: string;
  /** 0 to 2^32 - 1, chosen by who makes the link: each number answers once. */
  resume_id: number;
  /** Who the link was made for. */
  approver: string | undefined;
}

/** What a URL says of an approval. @throws BadRequest */
export function requestOf(
  { job_id, resume_id }: { job_id: string; resume_id: string },
  { approver }: { approver?: string | undefined },
): Request {
  if (!isUuid(job_id)) throw new BadRequest(`"${job_id.slice(0, 60)}" is not a job id: it must be a UUID`);
  const number = Number(resume_id);
  if (!/^\d{1,10}$/.test(resume_id) || number > 0xffffffff) {
    throw new BadRequest(
      `"${resume_id.slice(0, 60)}" is not a resume id: it must be a whole number below 2^32`,
    );
  }
  return { job_id: job_id.toLowerCase(), resume_id: number, approver: approver || undefined };
}

/** @returns hex of HMAC-SHA256 over the job's 16 bytes, the resume id as 4 bytes (big-endian) and the approver's text */
export async function sign(app: App, workspace_id: string, request: Request): Promise<string> {
  return (await digest(app, workspace_id, request)).toString("hex");
}

function digest(app: App, workspace_id: string, { job_id, resume_id, approver }: Request): Promise<Buffer> {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(resume_id);
  const job = Buffer.from(job_id.replaceAll("-", ""), "hex");
  return workspaceHmac(app, workspace_id, "approval", [job, number, approver ?? ""]);
}

/** @throws Unauthorized, also for a workspace that there is not: a stranger learns nothing of either */
export async function checkSignature(
  app: App,
  workspace_id: string,
  request: Request,
  signature: string,
): Promise<void> {
  const given = Buffer.from(/^[0-9a-f]{64}$/i.test(signature) ? signature : "", "hex");
  const right = await digest(app, workspace_id, request).catch((cause) => {
    if (cause instanceof NotFound) return undefined;
    throw cause;
  });
  if (right && given.length === right.length && timingSafeEqual(given, right)) return;
  throw new Unauthorized("the signature does not fit this job, resume id and approver");
}
