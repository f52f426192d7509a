/** A workspace as an archive of files, which existing clients compare with a folder and keep in git. */

import { z } from "zod";
import { BadRequest } from "../../../lib/errors.ts";
import { MAX_ZIP_ENTRIES, toZip } from "../../../lib/files/zip.ts";
import { flag, type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { SECRET_READ } from "../../tenancy/workspaces/secrets.ts";
import { archiveEntries } from "./archive.ts";

const no = flag.default(false);

const Options = z.object({
  archive_type: z.string().default("tar"),
  /** Secrets in plain, in either spelling. */
  plain_secret: no,
  plain_secrets: no,
  skip_secrets: no,
  skip_variables: no,
  skip_resources: no,
  skip_resource_types: no,
  include_schedules: no,
  include_triggers: no,
  include_users: no,
  include_groups: no,
  include_settings: no,
  include_key: no,
  include_workspace_dependencies: no,
  default_ts: z.enum(["bun", "deno"]).default("bun"),
});

export const tarballWorkspace = operation({
  name: "archiveWorkspaceAsTarball",
  method: "GET",
  path: "/w/{workspace}/workspaces/tarball",
  access: "member",
  summary: "Read what the caller sees of a workspace as an archive of files, to keep or to compare",
  query: Options,
  responds: responds.raw("application/x-tar", "a tar archive, or a ZIP archive under the same type"),
  audit: SECRET_READ,
  run: async (ctx, { workspace, query }) => {
    const { archive_type } = query;
    if (archive_type !== "zip" && archive_type !== "tar") {
      // Clients look for these words, and ask again for one that they know is there.
      throw new BadRequest(`Invalid Archive Type ${archive_type.slice(0, 20)}: it must be zip or tar`);
    }
    const entries = await archiveEntries(ctx, {
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
        ? toZip(entries, ctx.app.clock())
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
