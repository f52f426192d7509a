/** What stands at a path, as the files that existing clients know. Times, authors and places are left out. */
import { and, asc, eq, getTableColumns } from "drizzle-orm";
import { fileEndingOf } from "../../../engines/languages/languages.ts";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { resourceTypes } from "../../assets/resource-tables.ts";
import { listResources } from "../../assets/resources/service.ts";
import { isExtension } from "../../assets/resources/types.ts";
import { listVariables, readValue } from "../../assets/variables/service.ts";
import { Unreadable } from "../../assets/variables/value.ts";
import { apps, appVersions, rawApps } from "../../code/apps/tables.ts";
import { flows, flowVersions } from "../../code/flows/tables.ts";
import { isNewest } from "../../code/scripts/readable.ts";
import { type Script, scripts } from "../../code/scripts/tables.ts";
import { type Kept, unsaidOf } from "../../tenancy/rights/unknown-fields.ts";
import { type Schedule, schedules } from "../../triggers/schedules/tables.ts";
import type { TarballOptions } from "./archive.ts";

/**
 * A file of JSON; a field that is null or undefined is left out of it.
 * @param kept what clients said of the item that is not known here, or that means the same unsaid
 */
export function jsonEntry(name: string, fields: Record<string, unknown>, kept?: Kept | null): ZipEntry {
  const said = Object.entries(fields).filter(([, value]) => value != null);
  const content = { ...Object.fromEntries(said), ...unsaidOf(fields, kept) };
  return { name, content: JSON.stringify(content, null, 2) };
}

/** What is false unless somebody says so is not said. */
const orUnsaid = (value: boolean) => value || undefined;

/** `bun` and `deno` are said by whichever is not the default of the folder. */
function extensionOf(language: string, default_ts: "bun" | "deno"): string {
  return language === default_ts ? "ts" : fileEndingOf(language);
}

export async function scriptEntries(
  ctx: WorkspaceContext,
  { default_ts }: TarballOptions,
): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(scripts)
    .where(
      and(
        eq(scripts.workspace_id, member.workspace_id),
        eq(scripts.deleted, false),
        eq(scripts.archived, false),
        eq(scripts.draft_only, false),
        isNewest,
        readableBy(member, scripts),
      ),
    )
    .orderBy(asc(scripts.path));
  return rows.flatMap((row) => [
    { name: `${row.path}.${extensionOf(row.language, default_ts)}`, content: row.content },
    scriptMetadata(row),
  ]);
}

function scriptMetadata(row: Script): ZipEntry {
  const fields = {
    summary: row.summary,
    description: row.description,
    schema: row.schema,
    lock: row.lock,
    kind: row.kind,
    envs: row.envs.length > 0 ? row.envs : undefined,
    concurrent_limit: row.concurrent_limit,
    concurrency_time_window_s: row.concurrency_time_window_s,
    concurrency_key: row.concurrency_key,
    cache_ttl: row.cache_ttl,
    dedicated_worker: orUnsaid(row.dedicated_worker),
    ws_error_handler_muted: orUnsaid(row.ws_error_handler_muted),
    priority: row.priority,
    tag: row.tag,
    timeout: row.timeout,
    delete_after_use: orUnsaid(row.delete_after_use),
    restart_unless_cancelled: orUnsaid(row.restart_unless_cancelled),
    visible_to_runner_only: orUnsaid(row.visible_to_runner_only),
    no_main_func: orUnsaid(row.no_main_func),
    has_preprocessor: orUnsaid(row.has_preprocessor),
    on_behalf_of_email: row.on_behalf_of_email,
    isolation: row.isolation === "fresh" ? row.isolation : undefined,
    memory_mb: row.memory_mb ?? undefined,
    signature: row.signature,
    codebase: row.codebase,
  };
  return jsonEntry(`${row.path}.script.json`, fields, row.extra);
}

export async function flowEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select({ ...getTableColumns(flows), value: flowVersions.value, schema: flowVersions.schema })
    .from(flows)
    .innerJoin(flowVersions, eq(flowVersions.id, flows.version))
    .where(
      and(
        eq(flows.workspace_id, member.workspace_id),
        eq(flows.archived, false),
        eq(flows.draft_only, false),
        readableBy(member, flows),
      ),
    )
    .orderBy(asc(flows.path));
  return rows.map((row) =>
    jsonEntry(`${row.path}.flow.json`, {
      summary: row.summary,
      description: row.description,
      value: row.value,
      schema: row.schema,
      tag: row.tag,
      priority: row.priority,
      timeout: row.timeout,
      ws_error_handler_muted: orUnsaid(row.ws_error_handler_muted),
      dedicated_worker: orUnsaid(row.dedicated_worker),
      visible_to_runner_only: orUnsaid(row.visible_to_runner_only),
      on_behalf_of_email: row.on_behalf_of_email,
    }),
  );
}

/** Apps of components, and those that are one bundle. */
export async function appEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const { read } = ctx.app.db;
  const rows = await read
    .select({ ...getTableColumns(apps), value: appVersions.value })
    .from(apps)
    .innerJoin(appVersions, eq(appVersions.id, apps.version))
    .where(
      and(eq(apps.workspace_id, member.workspace_id), eq(apps.draft_only, false), readableBy(member, apps)),
    )
    .orderBy(asc(apps.path));
  const bundles = await read
    .select()
    .from(rawApps)
    .where(and(eq(rawApps.workspace_id, member.workspace_id), readableBy(member, rawApps)))
    .orderBy(asc(rawApps.path));
  return [
    ...rows.map(({ path, summary, value, policy, custom_path, raw_app }) => {
      // Whoever deploys it elsewhere is who it acts for there.
      const { on_behalf_of: _, on_behalf_of_email: __, ...kept } = policy;
      return jsonEntry(`${path}.${raw_app ? "raw_app" : "app"}.json`, {
        summary,
        value,
        policy: kept,
        custom_path,
      });
    }),
    ...bundles.map(({ path, summary, value }) => jsonEntry(`${path}.raw_app.json`, { summary, value })),
  ];
}

/** What scripts have noted for themselves belongs to where they run. */
const NOT_EXPORTED = ["state", "cache"];

export async function resourceEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listResources(ctx, { excluded_types: NOT_EXPORTED });
  return rows.map(({ path, value, description, resource_type }) => ({
    name: `${path}.resource.json`,
    // A value may be null, and is said then.
    content: JSON.stringify({ value, description, resource_type }, null, 2),
  }));
}

/** The workspace's own types: those that all workspaces see are theirs already. */
export async function resourceTypeEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await ctx.app.db.read
    .select()
    .from(resourceTypes)
    .where(eq(resourceTypes.workspace_id, ctx.caller.member.workspace_id))
    .orderBy(asc(resourceTypes.name));
  return rows.map(({ name, schema, description, format_extension, is_fileset }) =>
    jsonEntry(`${name}.resource-type.json`, {
      schema,
      description,
      format_extension: isExtension(format_extension) ? format_extension : undefined,
      is_fileset: orUnsaid(is_fileset),
    }),
  );
}

/** What is gone by its own date is not taken along: it is renewed, or gone, where it is. */
export async function variableEntries(
  ctx: WorkspaceContext,
  { plain_secrets, skip_secrets }: TarballOptions,
): Promise<ZipEntry[]> {
  const rows = await listVariables(ctx, { page: 1, per_page: Number.MAX_SAFE_INTEGER });
  const kept = rows.filter((row) => row.expires_at === null && !(skip_secrets && row.is_secret));
  const entries: ZipEntry[] = [];
  for (const row of kept) {
    const { path, is_secret, description, account, is_oauth } = row;
    const value = plain_secrets ? await plainOr(row.value, readValue(ctx, row)) : row.value;
    const fields = { value, is_secret, description, account, is_oauth: orUnsaid(is_oauth) };
    entries.push(jsonEntry(`${path}.variable.json`, fields));
  }
  return entries;
}

/** What no key here opens stays sealed as it came. */
async function plainOr(sealed: string, plain: Promise<string>): Promise<string> {
  return plain.catch((cause) => {
    if (cause instanceof Unreadable) return sealed;
    throw cause;
  });
}

export async function scheduleEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(schedules)
    .where(and(eq(schedules.workspace_id, member.workspace_id), readableBy(member, schedules)))
    .orderBy(asc(schedules.path));
  return rows.map(({ extra, ...row }) => jsonEntry(`${row.path}.schedule.json`, scheduleFields(row), extra));
}

/** What is known of a schedule where it is, and not what it is. */
const OF_THIS_PLACE = new Set<keyof Schedule>([
  "workspace_id",
  "path",
  "edited_by",
  "edited_at",
  "email",
  "extra_perms",
  "error",
  "next_at",
  "failed_times",
  "failed_job",
  "recovered_times",
]);

function scheduleFields(row: Omit<Schedule, "extra">): Partial<Schedule> {
  const kept = Object.entries(row).filter(([name]) => !OF_THIS_PLACE.has(name as keyof Schedule));
  return Object.fromEntries(kept);
}
