/** Which version of a flow a path or a number stands for: asked on every run, so answered from memory when it can be. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { FlowValue } from "../../../engines/flow-engine/types.ts";
import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { NotFound } from "../../../lib/errors.ts";
import { NotRunnable } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { passwordFields } from "../scripts/password-fields.ts";
import type { PinnedImport } from "../scripts/tables.ts";
import { type Flow, type FlowVersion, flows, flowVersions } from "./tables.ts";
import { runnable } from "./value/runnable.ts";

/** Rows of a flow, and of its versions. */
export const flowAt = (workspace_id: string, path: string) =>
  and(eq(flows.workspace_id, workspace_id), eq(flows.path, path));
export const versionsAt = (workspace_id: string, path: string) =>
  and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.path, path));

/** What running a flow needs to know: the steps of one version, and what holds for the flow whichever version it is. */
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
  /** Who deployed the version. */
  created_by: string;
  extra_perms: Record<string, boolean>;
  /** Names of the arguments that are not stored in plain. */
  passwords: string[];
}

const MAX_CACHED = 1_000;

const cacheOf = perApp((_: App) => ({
  byPath: new Cache<DeployedFlow>({ max: MAX_CACHED }),
  byVersion: new Cache<DeployedFlow>({ max: MAX_CACHED }),
  /** Steps of versions that run; they never change. */
  values: new Cache<FlowValue>({ max: MAX_CACHED }),
  /** What versions that run import; it never changes. */
  imports: new Cache<PinnedImport[]>({ max: MAX_CACHED }),
  /** Where versions that run stand. */
  paths: new Cache<string>({ max: MAX_CACHED }),
}));

const key = (workspace_id: string, name: string | number) => `${workspace_id}\n${name}`;

/** Forgets what was remembered of a flow, all its versions; called after a commit that changed it. */
export const forgetFlow = forgottenEverywhere<[workspace_id: string, path: string]>("flow", {
  forget(app, workspace_id, path) {
    const { byPath, byVersion, paths } = cacheOf(app);
    byPath.delete(key(workspace_id, path));
    paths.deleteWhere((_, known) => known === path);
    byVersion.deleteWhere((_, flow) => flow.path === path && flow.workspace_id === workspace_id);
  },
  forgetAll: (app) => forgetNamed(app, ""),
});

/** Forgets all flows of a workspace; called after a commit that moved some, with what mentions them. */
export const forgetFlows = forgottenEverywhere<[workspace_id: string]>("flows", {
  forget: (app, workspace_id) => forgetNamed(app, key(workspace_id, "")),
  forgetAll: (app) => forgetNamed(app, ""),
});

function forgetNamed(app: App, beginning: string): void {
  for (const cache of Object.values(cacheOf(app))) cache.deleteWhere((name) => name.startsWith(beginning));
}

/**
 * The newest version of a path that is ready to run.
 * @throws NotFound when there is no such flow; BadRequest when it has no version that can run, saying why
 */
export function deployedFlowByPath(
  app: App,
  workspace_id: string,
  path: string,
): DeployedFlow | Promise<DeployedFlow> {
  const { byPath } = cacheOf(app);
  const name = key(workspace_id, path);
  return byPath.get(name) ?? byPath.load(name, () => loadByPath(app, workspace_id, path));
}

/**
 * The version with this number, superseded ones included.
 * @throws NotFound, or BadRequest when it cannot run
 */
export function deployedFlowByVersion(
  app: App,
  workspace_id: string,
  version: number,
): DeployedFlow | Promise<DeployedFlow> {
  const { byVersion } = cacheOf(app);
  const name = key(workspace_id, version);
  return byVersion.get(name) ?? byVersion.load(name, () => loadByVersion(app, workspace_id, version));
}

/**
 * The steps of a version for a run that has begun: they are there whatever has become of the flow since.
 * @throws NotFound
 */
export function flowValueOf(app: App, workspace_id: string, version: number): FlowValue | Promise<FlowValue> {
  const cache = cacheOf(app);
  const name = key(workspace_id, version);
  return cache.byVersion.get(name)?.value ?? cache.values.get(name) ?? loadValue(app, workspace_id, version);
}

/** What the scripts of a version import; undefined for none. */
export async function flowImportsOf(
  app: App,
  workspace_id: string,
  version: number,
): Promise<PinnedImport[] | undefined> {
  const { imports } = cacheOf(app);
  const name = key(workspace_id, version);
  const known = imports.get(name);
  if (known) return known;
  const [row] = await app.db.read
    .select({ imports: flowVersions.imports })
    .from(flowVersions)
    .where(and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, version)));
  if (row?.imports) imports.set(name, row.imports);
  return row?.imports ?? undefined;
}

/** Where a version stands; undefined once the flow was deleted. */
export async function flowPathOf(
  app: App,
  workspace_id: string,
  version: number,
): Promise<string | undefined> {
  const cache = cacheOf(app);
  const name = key(workspace_id, version);
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
  const value = runnable(row.value);
  if (row.ready) cacheOf(app).values.set(key(workspace_id, version), value);
  return value;
}

async function loadByPath(app: App, workspace_id: string, path: string): Promise<DeployedFlow> {
  const found = await findOfPath(
    app.db.read,
    workspace_id,
    path,
    sql`coalesce(${flows.ready_version}, ${flows.version})`,
  );
  if (!found) throw new NotFound(`flow ${path} in workspace ${workspace_id}`);
  return toDeployed(found);
}

async function loadByVersion(app: App, workspace_id: string, version: number): Promise<DeployedFlow> {
  const found = await findVersion(app.db.read, workspace_id, version);
  if (!found) throw new NotFound(`flow version ${version} in workspace ${workspace_id}`);
  return toDeployed(found);
}

/** A flow with one of its versions. */
export interface FlowAt {
  flow: Flow;
  version: FlowVersion;
}

/** One version with its flow, whatever its state. */
export async function findVersion(
  db: Reader,
  workspace_id: string,
  version: number,
): Promise<FlowAt | undefined> {
  return findAt(db, and(eq(flowVersions.workspace_id, workspace_id), eq(flowVersions.id, version)));
}

/** The newest version of a path with its flow, whatever its state. */
export async function findLatest(
  db: Reader,
  workspace_id: string,
  path: string,
): Promise<FlowAt | undefined> {
  return findOfPath(db, workspace_id, path, flows.version);
}

function findOfPath(
  db: Reader,
  workspace_id: string,
  path: string,
  version: SQL | typeof flows.version,
): Promise<FlowAt | undefined> {
  return findAt(
    db,
    and(eq(flows.workspace_id, workspace_id), eq(flows.path, path), eq(flowVersions.id, version)),
  );
}

async function findAt(db: Reader, which: SQL | undefined): Promise<FlowAt | undefined> {
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

/** @throws NotRunnable */
function toDeployed({ flow, version }: FlowAt): DeployedFlow {
  const { workspace_id, path } = flow;
  if (flow.archived) {
    throw new NotRunnable(`flow ${path} in workspace ${workspace_id} is archived and cannot be run`, flow);
  }
  if (!version.ready) throw notReady(flow, version);
  const value = runnable(version.value);
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
    passwords: passwordFields(version.schema),
  };
}

function notReady(flow: Flow, { id, lock_job, lock_error_logs }: FlowVersion): NotRunnable {
  const { path } = flow;
  if (lock_job === null) {
    return new NotRunnable(`flow ${path} is a draft and cannot run: deploy it first`, flow);
  }
  const why = lock_error_logs
    ? `the dependencies of its scripts could not be resolved: ${lock_error_logs}`
    : "the dependencies of its scripts are still being resolved";
  return new NotRunnable(`version ${id} of flow ${path} cannot run: ${why}`, flow);
}
