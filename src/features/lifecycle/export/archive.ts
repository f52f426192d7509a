/** What is in the archive of a workspace: kinds of things, each with who may have it and how it becomes files. */

import { Forbidden } from "../../../lib/errors.ts";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { checkScopes } from "../../tenancy/tokens/scopes.ts";
import * as items from "./archive-items.ts";
import * as triggers from "./archive-triggers.ts";
import * as places from "./archive-workspace.ts";

export interface TarballOptions {
  /** Secrets in plain instead of sealed with the workspace's key. */
  plain_secrets: boolean;
  skip_secrets: boolean;
  skip_variables: boolean;
  skip_resources: boolean;
  skip_resource_types: boolean;
  include_schedules: boolean;
  include_triggers: boolean;
  include_users: boolean;
  include_groups: boolean;
  include_settings: boolean;
  include_key: boolean;
  include_workspace_dependencies: boolean;
  /** The language that a file which ends in `.ts` alone is in. */
  default_ts: "bun" | "deno";
}

interface Section {
  /** What a restricted token must let its bearer read, or write where that says so. */
  domain: string;
  action?: "write";
  wanted: (options: TarballOptions) => boolean;
  adminOnly?: true;
  entries: (ctx: WorkspaceContext, options: TarballOptions) => Promise<ZipEntry[]>;
}

const always = () => true;

const SECTIONS: readonly Section[] = [
  { domain: "folders", wanted: always, entries: places.folderEntries },
  { domain: "scripts", wanted: always, entries: items.scriptEntries },
  { domain: "flows", wanted: always, entries: items.flowEntries },
  { domain: "apps", wanted: always, entries: items.appEntries },
  { domain: "resources", wanted: (o) => !o.skip_resources, entries: items.resourceEntries },
  { domain: "resources", wanted: (o) => !o.skip_resource_types, entries: items.resourceTypeEntries },
  { domain: "variables", wanted: (o) => !o.skip_variables, entries: items.variableEntries },
  { domain: "schedules", wanted: (o) => o.include_schedules, entries: items.scheduleEntries },
  { domain: "http_triggers", wanted: (o) => o.include_triggers, entries: triggers.httpTriggerEntries },
  {
    domain: "websocket_triggers",
    wanted: (o) => o.include_triggers,
    entries: triggers.websocketTriggerEntries,
  },
  {
    domain: "workspaces",
    wanted: (o) => o.include_workspace_dependencies,
    entries: places.dependencyEntries,
  },
  { domain: "users", wanted: (o) => o.include_users, entries: places.userEntries },
  { domain: "groups", wanted: (o) => o.include_groups, entries: places.groupEntries },
  {
    domain: "workspaces",
    wanted: (o) => o.include_settings,
    adminOnly: true,
    entries: places.settingsEntries,
  },
  {
    domain: "workspaces",
    // As the operation that reads the key: whoever has it opens all that is sealed.
    action: "write",
    wanted: (o) => o.include_key,
    adminOnly: true,
    entries: places.keyEntries,
  },
];

/**
 * The files of the workspace, as far as the caller may read it.
 * @throws Forbidden for settings and key to those who are no admins, and for what a restricted token does not cover
 */
export async function tarballEntries(ctx: WorkspaceContext, options: TarballOptions): Promise<ZipEntry[]> {
  const { identity, member } = ctx.caller;
  const wanted = SECTIONS.filter((section) => section.wanted(options));
  for (const { domain, action = "read", adminOnly } of wanted) {
    checkScopes(identity, { domain, action }, undefined);
    if (adminOnly && !member.is_admin) {
      throw new Forbidden("the settings and the key of a workspace are exported to its admins alone");
    }
  }
  // One after the other: reading secrets in plain writes to the audit log.
  const entries: ZipEntry[] = [];
  for (const section of wanted) entries.push(...(await section.entries(ctx, options)));
  return entries.filter(({ name }) => isPlainName(name));
}

/**
 * Whether a name leads into the folder that an archive is unpacked in, and to no file that tools look for there. Names
 * are checked when things are made; what came here in another way is left out.
 */
function isPlainName(name: string): boolean {
  return name.split("/").every((part) => /^[^.~\\:\p{C}][^\\:\p{C}]*$/u.test(part));
}
