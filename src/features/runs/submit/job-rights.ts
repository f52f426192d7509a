/** Rules for who may see a job, and who may change it. */
import { and, eq, inArray, or, type SQL } from "drizzle-orm";
import {
  canRead,
  isGrantee,
  isOwner,
  listGrantees,
  ownedBy,
  readableByPath,
} from "../../../platform/access/permissions.ts";
import type { Caller, Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { listAllowedTags } from "../../tenancy/tokens/scopes.ts";

type MemberCaller = WorkspaceContext["caller"];

/** The columns of a job that determine who may see it. */
type JobRights = Pick<
  Job,
  "permissioned_as" | "email" | "started_by" | "script_path" | "visible_to_owner" | "tag"
>;

/** Whether a member may read a job: their own, and those at paths that they may read. */
export function canReadJob(caller: Caller, job: JobRights): boolean {
  return hasRight(caller, job, (member, path) => canRead(member, path, {}));
}

/** Whether a member may cancel a job and answer its approvals: their own, and those at paths that they own. */
export function canChangeJob(caller: Caller, job: JobRights): boolean {
  return hasRight(caller, job, isOwner);
}

/** Names the users for whom `canChangeJob` holds. */
export function describeChangers({ script_path }: Pick<Job, "script_path">): string {
  return script_path === null
    ? "the user who runs it, and admins"
    : `the user who runs it, owners of ${script_path}, and admins`;
}

function hasRight(
  { member, identity }: Caller,
  job: JobRights,
  byPath: (member: Member, path: string) => boolean,
): boolean {
  if (!member || listAllowedTags(identity)?.includes(job.tag) === false) return false;
  if (member.is_admin || isGrantee(member, job.permissioned_as)) return true;
  if (job.email === member.email || job.started_by === member.email) return true;
  return job.visible_to_owner && job.script_path !== null && byPath(member, job.script_path);
}

/** Returns the rule of `canReadJob` as an SQL condition, so that list pages are full. */
export const selectVisibleJobs = (caller: MemberCaller) => jobsWithRight(caller, readableByPath);

/** Returns the rule of `canChangeJob` as an SQL condition. */
export const selectChangeableJobs = (caller: MemberCaller) => jobsWithRight(caller, ownedBy);

function jobsWithRight({ member, identity }: MemberCaller, byPath: typeof ownedBy): SQL | undefined {
  const tags = listAllowedTags(identity);
  const isTagged = tags && inArray(jobs.tag, tags);
  if (member.is_admin) return isTagged;
  const isTheirs = or(
    inArray(jobs.permissioned_as, [...listGrantees(member)]),
    eq(jobs.email, member.email),
    eq(jobs.started_by, member.email),
    and(eq(jobs.visible_to_owner, true), byPath(member, jobs.script_path)),
  );
  return and(isTagged, isTheirs);
}

/**
 * Whether a caller may see a job. Anonymous callers see only jobs that were started anonymously, and of a flow not its
 * steps: their arguments, results and logs are internal, whatever the flow shows of them in its result.
 */
export function canSeeJob(caller: Caller, job: JobRights & Pick<Job, "created_by" | "parent_job">): boolean {
  if (caller.member) return canReadJob(caller, job);
  return job.created_by === "anonymous" && job.parent_job === null;
}
