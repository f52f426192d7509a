/**
 * Permissions for tags. A tag routes code to a group of workers, so only built-in tags and those in the setting
 * `custom_tags` may be used. Super admins may use any tag.
 * An entry is a tag, `gpu(acme+shop)` for some workspaces, or `gpu(^acme^shop)` for all others. `$workspace` stands
 * for the workspace's id; an entry with `$args[…]` allows exactly that template.
 * The permission is checked when a job is submitted (submit/submit.ts) and when a step starts
 * (flows/drive/step-jobs.ts), not when a script, flow or schedule is saved: a folder of another instance can be
 * pushed before its tags are allowed, and the list may change at any time. `svc push` warns.
 */

import { RUNNABLE_LANGUAGES } from "../../../engines/runner/files/source-tree.ts";
import { Forbidden } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";

/** Tags of jobs for which none is set. */
export const DEFAULT_TAGS: readonly string[] = [...RUNNABLE_LANGUAGES, "flow", "dependency", "other"];

/** These, and the language tags that existing clients use. */
const BUILT_IN_TAGS = new Set(
  `${DEFAULT_TAGS.join(" ")} noop deno python3 go bash powershell nativets mysql bun bunnative postgresql bigquery
  snowflake mssql oracledb duckdb graphql php rust ansible csharp nu java ruby`.split(/\s+/),
);

const ENTRY = /^(.+?)\((\^?)([\w-]+(?:[+^][\w-]+)*)\)$/;

interface TagRequest {
  /** The tag with its references replaced. */
  tag: string;
  /** The template, if it differs. */
  written?: string | undefined;
}

/** Whether every member of the workspace may use the tag. */
export function isOpenTag(app: App, workspace_id: string, request: TagRequest): boolean {
  return isListedTag(app.settings.get("custom_tags"), workspace_id, request);
}

/** Whether a tag is built in or in a list of entries. */
export function isListedTag(
  entries: readonly string[],
  workspace_id: string,
  { tag, written = tag }: TagRequest,
): boolean {
  if (BUILT_IN_TAGS.has(tag)) return true;
  return entries.some((entry) => {
    const [, name = entry, except, workspaces] = ENTRY.exec(entry) ?? [];
    if (workspaces !== undefined) {
      const isNamed = workspaces.split(/[+^]/).includes(workspace_id);
      if (isNamed === (except === "^")) return false;
    }
    return name === written || name.replaceAll("$workspace", workspace_id) === tag;
  });
}

/**
 * Throws the error for a tag that the workspace may not use.
 * @throws Forbidden naming the tag, and where it can be allowed
 */
export function throwTagNotAllowed(workspace_id: string, tag: string): never {
  throw new Forbidden(`the tag ${tag} may not be given to jobs in workspace ${workspace_id}`, {
    hint: "a super admin lists it in the setting custom_tags, or runs the job",
  });
}

/**
 * Requires that a job that no request started, such as a step, may have the tag.
 * @param email of the user who started it
 * @throws Forbidden
 */
export async function requireTagAllowed(
  app: App,
  { workspace_id, email }: { workspace_id: string; email: string },
  given: TagRequest,
): Promise<void> {
  if (isOpenTag(app, workspace_id, given) || (await isSuperAdmin(app.db.read, email))) return;
  throwTagNotAllowed(workspace_id, given.tag);
}
