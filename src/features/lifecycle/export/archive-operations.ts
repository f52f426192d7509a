/** Operations that export a workspace as an archive of files, which clients compare with a folder or keep in git. */

import { BadRequest } from "../../../lib/errors.ts";
import { createZipStream, MAX_ZIP_ENTRIES } from "../../../lib/files/zip.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, queryBoolean, responds } from "../../../platform/http/operation.ts";
import { SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import { createArchiveEntries } from "./archive.ts";

const falseByDefault = queryBoolean.default(false);

const ArchiveQuery = z.object({
  archive_type: z.string().default("tar"),
  /** Exports secrets as plain text; both spellings are accepted. */
  plain_secret: falseByDefault,
  plain_secrets: falseByDefault,
  skip_secrets: falseByDefault,
  skip_variables: falseByDefault,
  skip_resources: falseByDefault,
  skip_resource_types: falseByDefault,
  include_schedules: falseByDefault,
  include_triggers: falseByDefault,
  include_users: falseByDefault,
  include_groups: falseByDefault,
  include_settings: falseByDefault,
  include_key: falseByDefault,
  /** `v2` of newer clients groups the settings of an error handler and of automatic invitations. */
  settings_version: z.string().default("v1"),
  include_workspace_dependencies: falseByDefault,
  default_ts: z.enum(["bun", "deno"]).default("bun"),
});

export const tarballWorkspace = operation({
  name: "archiveWorkspaceAsTarball",
  method: "GET",
  path: "/w/{workspace}/workspaces/tarball",
  access: "member",
  summary: "Export the workspace as an archive of files, as far as the caller may read it",
  query: ArchiveQuery,
  responds: responds.raw("application/x-tar", "a tar archive, or a ZIP archive under the same type"),
  audit: SECRET_READ_AUDIT,
  run: async (ctx, { workspace, query }) => {
    const { archive_type } = query;
    if (archive_type !== "zip" && archive_type !== "tar") {
      // Clients search for these words and then ask again for a type they know.
      throw new BadRequest(`Invalid Archive Type ${archive_type.slice(0, 20)}: it must be zip or tar`);
    }
    const entries = await createArchiveEntries(ctx, {
      ...query,
      plain_secrets: query.plain_secret || query.plain_secrets,
    });
    if (archive_type === "zip" && entries.length > MAX_ZIP_ENTRIES) {
      throw new BadRequest(`a ZIP archive holds ${MAX_ZIP_ENTRIES} files, and there are ${entries.length}`, {
        hint: "ask for archive_type=tar",
      });
    }
    const body =
      archive_type === "zip"
        ? createZipStream(entries, ctx.app.clock())
        : await new Bun.Archive(Object.fromEntries(entries.map((each) => [each.name, each.content]))).bytes();
    return new Response(body, {
      headers: {
        "content-type": "application/x-tar",
        "content-disposition": `attachment; filename="${workspace}.${archive_type}"`,
      },
    });
  },
});

export const tarballOperations: Operation[] = [tarballWorkspace];
