/** Resolves paths and version numbers to deployed flows. Every run needs it, so results are cached. */

import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { FlowValue } from "../../../engines/flow-engine/types.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { NotFound } from "../../../lib/errors.ts";
import { BeingPrepared, NotReady, NotRunnable } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { findAtEitherPath } from "../../tenancy/people/renamings.ts";
import { listPasswordFields } from "../scripts/password-fields.ts";
import type { PinnedImport } from "../scripts/tables.ts";
import { describeLockError } from "../scripts/versions.ts";
import { type Flow, type FlowVersion, flows, flowVersions } from "./tables.ts";
import { toRunnableFlow } from "./value/to-runnable.ts";

/** Conditions for a flow's row, and for the rows of its versions. */
export const whereFlow = (workspace_id: string, path: string) =>
  and(eq(flows.workspace_id, workspace_id), eq(flows.path, path));
export const whereVersions = (workspace_id: string, path: string) =>
  and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.path, path));

/** The part of a flow that running it needs: the steps of one version, and the flow's options. */
export interface DeployedFlow {
  version: number;
  workspace_id: string;
  path: string;
  value: FlowValue;
  /** JSON Schema of its input. */
  schema: unknown;
  tag: string;
  priority: number;
  timeout_s: number | undefined;
  visible_to_runner_only: boolean;
  ws_error_handler_muted: boolean;
  on_behalf_of_email: string | undefined;
  /** Username of its deployer. */
  created_by: string;
  extra_perms: Record<string, boolean>;
  /** Names of password arguments, which are stored encrypted. */
  passwords: string[];
}

const MAX_CACHED = 1_000;

const flowCaches = memoizePerApp((_: App) => ({
  byPath: new Cache<DeployedFlow>({ max: MAX_CACHED }),
  byVersion: new Cache<DeployedFlow>({ max: MAX_CACHED }),
  /** Steps of running versions; immutable. */
  values: new Cache<FlowValue>({ max: MAX_CACHED }),
  /** Imports of running versions; immutable. */
  imports: new Cache<PinnedImport[]>({ max: MAX_CACHED }),
  /** Paths of running versions. */
  paths: new Cache<string>({ max: MAX_CACHED }),
}));

const cacheKey = (workspace_id: string, name: string | number) => `${workspace_id}\n${name}`;

/** Invalidates a flow with all its versions; call it after a commit that changed it. */
export const invalidateFlow = defineInvalidation<[workspace_id: string, path: string]>("flow", {
  forget(app, workspace_id, path) {
    const { byPath, byVersion, paths } = flowCaches(app);
    byPath.delete(cacheKey(workspace_id, path));
    paths.deleteWhere((_, known) => known === path);
    byVersion.deleteWhere((_, flow) => flow.path === path && flow.workspace_id === workspace_id);
  },
  forgetAll: (app) => deleteByPrefix(app, ""),
});

/** Invalidates all flows of a workspace; call it after a commit that renamed some or changed references in them. */
export const invalidateFlows = defineInvalidation<[workspace_id: string]>("flows", {
  forget: (app, workspace_id) => deleteByPrefix(app, cacheKey(workspace_id, "")),
  forgetAll: (app) => deleteByPrefix(app, ""),
});

function deleteByPrefix(app: App, beginning: string): void {
  for (const cache of Object.values(flowCaches(app))) cache.deleteWhere((name) => name.startsWith(beginning));
}

/**
 * Returns the newest version of a path that can run.
 * @throws NotFound for an unknown flow; BadRequest if no version can run, saying why
 */
export function getDeployedFlowByPath(
  app: App,
  workspace_id: string,
  path: string,
): DeployedFlow | Promise<DeployedFlow> {
  const { byPath } = flowCaches(app);
  const name = cacheKey(workspace_id, path);
  return byPath.get(name) ?? byPath.load(name, () => loadByPath(app, workspace_id, path));
}

/** Returns the version with this number, including superseded ones. @throws NotFound, or BadRequest if it cannot run */
export function getDeployedFlowByVersion(
  app: App,
  workspace_id: string,
  version: number,
): DeployedFlow | Promise<DeployedFlow> {
  const { byVersion } = flowCaches(app);
  const name = cacheKey(workspace_id, version);
  return byVersion.get(name) ?? byVersion.load(name, () => loadByVersion(app, workspace_id, version));
}

/** Returns the steps of a version for a started run, even if the flow was changed or deleted since. @throws NotFound */
export function getFlowValue(
  app: App,
  workspace_id: string,
  version: number,
): FlowValue | Promise<FlowValue> {
  const cache = flowCaches(app);
  const name = cacheKey(workspace_id, version);
  return cache.byVersion.get(name)?.value ?? cache.values.get(name) ?? loadValue(app, workspace_id, version);
}

/** Returns the imports of a version's scripts; undefined for none. */
export async function findFlowImports(
  app: App,
  workspace_id: string,
  version: number,
): Promise<PinnedImport[] | undefined> {
  const { imports } = flowCaches(app);
  const name = cacheKey(workspace_id, version);
  const known = imports.get(name);
  if (known) return known;
  const [row] = await app.db.read
    .select({ imports: flowVersions.imports })
    .from(flowVersions)
    .where(and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, version)));
  if (row?.imports) imports.set(name, row.imports);
  return row?.imports ?? undefined;
}

/** Returns the path of a version; undefined if the flow was deleted. */
export async function findFlowPath(
  app: App,
  workspace_id: string,
  version: number,
): Promise<string | undefined> {
  const cache = flowCaches(app);
  const name = cacheKey(workspace_id, version);
  const known = cache.byVersion.get(name)?.path ?? cache.paths.get(name);
  if (known !== undefined) return known;
  const [row] = await app.db.read
    .select({ path: flowVersions.path })
    .from(flowVersions)
    .where(and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, version)));
  if (!row?.path) return undefined;
  cache.paths.set(name, row.path);
  return row.path;
}

async function loadValue(app: App, workspace_id: string, version: number): Promise<FlowValue> {
  const [row] = await app.db.read
    .select({ value: flowVersions.value, ready: flowVersions.ready })
    .from(flowVersions)
    .where(and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, version)));
  if (!row) throw new NotFound(`flow version ${version} in workspace ${workspace_id}`);
  const value = toRunnableFlow(row.value);
  if (row.ready) flowCaches(app).values.set(cacheKey(workspace_id, version), value);
  return value;
}

async function loadByPath(app: App, workspace_id: string, path: string): Promise<DeployedFlow> {
  const found = await findAtEitherPath(app, workspace_id, path, (path) =>
    findByPath(app.db.read, workspace_id, path, sql`coalesce(${flows.ready_version}, ${flows.version})`),
  );
  if (!found) throw new NotFound(`flow ${path} in workspace ${workspace_id}`);
  return toDeployedFlow(found);
}

async function loadByVersion(app: App, workspace_id: string, version: number): Promise<DeployedFlow> {
  const found = await findFlowVersion(app.db.read, workspace_id, version);
  if (!found) throw new NotFound(`flow version ${version} in workspace ${workspace_id}`);
  return toDeployedFlow(found);
}

/** A flow with one of its versions. */
export interface FlowWithVersion {
  flow: Flow;
  version: FlowVersion;
}

/** Finds a version with its flow, in any state. */
export async function findFlowVersion(
  db: Reader,
  workspace_id: string,
  version: number,
): Promise<FlowWithVersion | undefined> {
  return findFlowWhere(db, and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, version)));
}

/** Finds the newest version of a path with its flow, in any state. */
export async function findLatestFlow(
  db: Reader,
  workspace_id: string,
  path: string,
): Promise<FlowWithVersion | undefined> {
  return findByPath(db, workspace_id, path, flows.version);
}

function findByPath(
  db: Reader,
  workspace_id: string,
  path: string,
  version: SQL | typeof flows.version,
): Promise<FlowWithVersion | undefined> {
  return findFlowWhere(
    db,
    and(eq(flows.workspace_id, workspace_id), eq(flows.path, path), eq(flowVersions.id, version)),
  );
}

async function findFlowWhere(db: Reader, which: SQL | undefined): Promise<FlowWithVersion | undefined> {
  const [row] = await db
    .select({ flow: flows, version: flowVersions })
    .from(flowVersions)
    .innerJoin(
      flows,
      and(eq(flows.workspace_id, flowVersions.workspace_id), eq(flows.path, flowVersions.path)),
    )
    .where(which);
  return row;
}

/**
 * Converts the rows of a flow and its version to what runs need.
 * @throws NotRunnable if the flow is archived or the version is not ready
 */
function toDeployedFlow({ flow, version }: FlowWithVersion): DeployedFlow {
  const { workspace_id, path } = flow;
  if (flow.archived) {
    throw new NotRunnable(`flow ${path} in workspace ${workspace_id} is archived and cannot be run`, flow);
  }
  if (!version.ready) throw createNotReadyError(flow, version);
  const value = toRunnableFlow(version.value);
  return {
    version: version.id,
    workspace_id,
    path,
    value,
    schema: version.schema,
    tag: flow.tag ?? "flow",
    priority: flow.priority ?? value.priority ?? 0,
    timeout_s: flow.timeout || undefined,
    visible_to_runner_only: flow.visible_to_runner_only,
    ws_error_handler_muted: flow.ws_error_handler_muted,
    on_behalf_of_email: flow.on_behalf_of_email ?? undefined,
    created_by: version.created_by,
    extra_perms: flow.extra_perms,
    passwords: listPasswordFields(version.schema),
  };
}

function createNotReadyError(flow: Flow, { id, lock_job, lock_error_logs }: FlowVersion): NotRunnable {
  const { path } = flow;
  if (lock_job === null) {
    return new NotRunnable(`flow ${path} is a draft and cannot run: deploy it first`, flow);
  }
  const what = `version ${id} of flow ${path} cannot run`;
  const whose = "the dependencies of its scripts";
  return lock_error_logs
    ? new NotReady(`${what}: ${describeLockError(lock_error_logs, whose)}`, flow)
    : new BeingPrepared(`${what}: ${whose} are still being resolved`, flow);
}
