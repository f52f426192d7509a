/**
 * Which tags who may give to a job. A tag sends code to a group of workers, so it is a right: beside the tags that jobs
 * have by themselves, only those may be given that the setting `custom_tags` lists. Super admins may give any.
 *
 * An entry is a tag, for some workspaces `gpu(acme+shop)`, for all but some `gpu(^acme^shop)`. `$workspace` in it stands
 * for the workspace's id; one with `$args[…]` allows just that text where a tag is written.
 */

import { LANGUAGES } from "../../../engines/runner/files/source-tree.ts";
import { Forbidden } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { isSuperAdmin } from "../../tenancy/people/super-admin.ts";

/** Tags that jobs have where nothing else is said. */
export const DEFAULT_TAGS: readonly string[] = [...LANGUAGES, "flow", "dependency", "other"];

/** With those of languages that existing clients know. */
const OPEN = new Set(
  `${DEFAULT_TAGS.join(" ")} noop deno python3 go bash powershell nativets mysql bun bunnative postgresql bigquery
  snowflake mssql oracledb duckdb graphql php rust ansible csharp nu java ruby`.split(/\s+/),
);

const ENTRY = /^(.+?)\((\^?)([\w-]+(?:[+^][\w-]+)*)\)$/;

interface Given {
  /** With its references filled in. */
  tag: string;
  /** As it was written; left out, the same. */
  written?: string | undefined;
}

/** Whether everybody in the workspace may give the tag. */
export function isOpenTag(app: App, workspace_id: string, { tag, written = tag }: Given): boolean {
  if (OPEN.has(tag)) return true;
  return app.settings.get("custom_tags").some((entry) => {
    const [, name = entry, except, workspaces] = ENTRY.exec(entry) ?? [];
    if (workspaces !== undefined) {
      const isNamed = workspaces.split(/[+^]/).includes(workspace_id);
      if (isNamed === (except === "^")) return false;
    }
    return name === written || name.replaceAll("$workspace", workspace_id) === tag;
  });
}

/** @throws Forbidden naming the tag, and where it could be allowed */
export function refuseTag(workspace_id: string, tag: string): never {
  throw new Forbidden(`the tag ${tag} may not be given to jobs in workspace ${workspace_id}`, {
    hint: "a super admin lists it in the setting custom_tags, or runs the job",
  });
}

/**
 * The same for what starts without a call.
 * @param email of the person who started it
 * @throws Forbidden
 */
export async function requireTagFor(
  app: App,
  { workspace_id, email }: { workspace_id: string; email: string },
  given: Given,
): Promise<void> {
  if (isOpenTag(app, workspace_id, given) || (await isSuperAdmin(app.db.read, email))) return;
  refuseTag(workspace_id, given.tag);
}
