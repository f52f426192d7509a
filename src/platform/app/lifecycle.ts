/**
 * Contributions of a feature to the lifecycle of workspaces and their data: encryption, export, deletion, retention.
 * Types only.
 */

import type { AnyColumn, SQL, Table } from "drizzle-orm";
import type { Reader, Tx } from "../../database/database.ts";
import type { PathTable } from "../../database/path-table.ts";
import type { Awaitable } from "../../lib/async/awaitable.ts";
import type { ZipEntry } from "../../lib/files/zip.ts";
import type { App, Context, WorkspaceContext } from "./context.ts";

/** Columns of one table whose text may contain values that the workspace's key has encrypted (`$encrypted:…`). */
export interface EncryptedColumns {
  columns: readonly [AnyColumn, ...AnyColumn[]];
  /** Columns that identify a row within the workspace. */
  key: readonly AnyColumn[];
  /** Column with the e-mail of the user whose job arguments the values are; they are encrypted for that user only. */
  email?: AnyColumn | SQL;
  /** Condition for the workspace's rows; default: those with its `workspace_id`. */
  rows?: (workspace_id: string) => SQL;
  /**
   * Conditions that split these rows into parts, so that no statement reads many; default: by the key, or all at
   * once.
   */
  slices?: (db: Reader, workspace_id: string) => AsyncIterable<SQL>;
  /** Called in the transaction that changed a row. @param key values of its key columns */
  onChanged?: (tx: Tx, key: readonly (string | number)[]) => Promise<void>;
}

/** A column that holds ciphertext of the workspace's key and nothing else. */
export interface SecretColumn {
  column: AnyColumn;
  /** Column that identifies a row within the workspace. */
  key: AnyColumn;
  /** Condition for rows with ciphertext; default: all. */
  where?: SQL;
  /** Whether imports may bring ciphertext made with the new key; then `skip_reencrypt` does not re-encrypt it. */
  isImported: boolean;
}

/** Options that select the contents of a workspace's archive. */
export interface ArchiveOptions {
  /** Secrets in plain text instead of encrypted with the workspace's key. */
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
  /** Form of the settings; any value but `v2` is the flat form `v1`. */
  settings_version: string;
  include_workspace_dependencies: boolean;
  /** Language of files with the plain extension `.ts`. */
  default_ts: "bun" | "deno";
}

/** One kind of items in the archive of a workspace. */
export interface ArchiveSection {
  /** Tables that the section exports. */
  tables: readonly Table[];
  /** Domain of the scope that a restricted token needs. */
  domain: string;
  /** Action of that scope; default: `read`. */
  action?: "write";
  /** When the scope is needed; default: always. */
  needsScope?: "if it has files";
  /** Whether the options request the section; default: always included. */
  isWanted?: (options: ArchiveOptions) => boolean;
  adminOnly?: true;
  /** Yields the files of the items that the caller may read. */
  entries(ctx: WorkspaceContext, options: ArchiveOptions): Promise<ZipEntry[]>;
}

/** The path of a script or flow that triggers start. */
export interface TriggeredRunnable {
  workspace_id: string;
  path: string;
  is_flow: boolean;
}

/** Number of triggers of one kind per script or flow. */
export interface TriggerCount {
  /** Table with `script_path` and `is_flow`. */
  table: PathTable;
  /** Condition for the rows of the kind; default: all. */
  only?: SQL;
  /** Field with the number of triggers of a script or flow. */
  count: string;
  /** Field that tells whether a workspace has any trigger of this kind. */
  used?: string;
  /** Additional fields. */
  details?(app: App, runnable: TriggeredRunnable): Promise<Record<string, unknown>>;
}

/** Scripts or flows, as targets of triggers. */
export interface RunnableKind {
  is_flow: boolean;
  /**
   * Returns the version deployed at a path and its permissions.
   * @throws NotFound; NotRunnable if it is archived or not ready
   */
  deployedByPath(app: App, workspace_id: string, path: string): Readable | Promise<Readable>;
}

interface Readable {
  path: string;
  extra_perms: Record<string, boolean>;
}

/** Deletes rows after their retention period. */
export interface Retention {
  tables: readonly Table[];
  /** Deletes expired rows in small transactions; yields after each. */
  deleteExpired(app: App, now: Date): AsyncIterable<void>;
}

/** The parts of a context that job cancellation uses. */
export type CancelContext = Pick<Context, "app" | "username" | "write">;

/** Jobs that are stored as canceled although their processes have not stopped. */
export interface AbandonedJobs {
  workspace_id: string;
  /** Condition on the table of jobs. */
  which: SQL;
  reason: string;
  /** Username of the user who canceled them. */
  by: string;
}

/** A change as recorded in the audit log. */
export interface AuditedChange {
  workspace_id: string;
  audit: { operation: string };
  resource: string | undefined;
  parameters: Record<string, string> | undefined;
}

/** Handlers of a feature for events of workspaces, jobs and the clock. */
export interface LifecycleEvents {
  /** Called in the transaction of a change, after its audit row is stored. */
  changeAudited?(app: App, tx: Tx, change: AuditedChange): Awaitable<void>;
  /** Called in a transaction after all stored values were encrypted with the workspace's new key. */
  workspaceKeyChanged?(app: App, tx: Tx, workspace_id: string): Promise<void>;
  /** The workspace is being archived, deleted or renamed: cancels its unfinished jobs, or only the running ones. */
  workspaceClosing?(
    ctx: CancelContext,
    workspace_id: string,
    how: { reason: string; which: "unfinished" | "running" },
  ): Promise<void>;
  /** Called after the commit that archived or unarchived the workspace. */
  workspaceArchived?(app: App, workspace_id: string): void;
  /**
   * Called in the first transaction of a change of the workspace's id.
   * @throws BadRequest if something in the workspace cannot exist under the new id
   */
  workspaceMoving?(tx: Tx, from: string, to: string): Promise<void>;
  /** Called in the transaction that deletes the workspace's row, after almost all of its other rows were deleted. */
  workspaceDeleted?(tx: Tx, workspace_id: string): Promise<void>;
  /** Called in a transaction: stores jobs that did not stop in time as canceled. */
  jobsAbandoned?(app: App, tx: Tx, jobs: AbandonedJobs): Promise<void>;
  /**
   * Called on the leader when the clock was set back: corrects stored times in the future, so that nothing is
   * delayed.
   */
  clockSetBack?(app: App, by_ms: number): Promise<void>;
}

export interface LifecycleContributions {
  encryptedColumns?: readonly EncryptedColumns[];
  secretColumns?: readonly SecretColumn[];
  archiveSections?: readonly ArchiveSection[];
  triggerCounts?: readonly TriggerCount[];
  runnableKind?: RunnableKind;
  retention?: Retention;
  /**
   * Columns with the id of a job: retention deletes their rows with the job. On PostgreSQL their tables can have monthly
   * partitions, so a primary key begins with the column.
   */
  jobColumns?: readonly AnyColumn[];
  /**
   * Tables whose rows `on.workspaceDeleted` deletes together with other data. All other tables with a `workspace_id`
   * are emptied before.
   */
  tablesDeletedLast?: readonly Table[];
  /** Drops cached data of a workspace; called after a commit. */
  invalidateWorkspace?(app: App, workspace_id: string): void;
}
