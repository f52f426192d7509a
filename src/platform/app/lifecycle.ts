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
  /** Conditions that divide these rows, so that no statement reads many; default: by the key, or all at once. */
  slices?: (db: Reader, workspace_id: string) => AsyncIterable<SQL>;
  /** In the transaction that has changed a row. @param key the values of its key */
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
  include_workspace_dependencies: boolean;
  /** The language of files that end in `.ts` alone. */
  default_ts: "bun" | "deno";
}

/** One kind of items in the archive of a workspace. */
export interface ArchiveSection {
  /** Tables that the section exports. */
  tables: readonly Table[];
  /** Domain of the scope that a restricted token needs. */
  domain: string;
  /** Action of that scope; left out, `read`. */
  action?: "write";
  /** Whether the options ask for it; left out, it is always there. */
  isWanted?: (options: ArchiveOptions) => boolean;
  adminOnly?: true;
  /** The files, as far as the caller may read the items. */
  entries(ctx: WorkspaceContext, options: ArchiveOptions): Promise<ZipEntry[]>;
}

/** A script or a flow at a path. */
export interface TriggeredRunnable {
  workspace_id: string;
  path: string;
  is_flow: boolean;
}

/** Triggers of one kind, counted by the script or flow that they start. */
export interface TriggerCount {
  /** Table with `script_path` and `is_flow`. */
  table: PathTable;
  /** Field of the number of triggers of a script or flow. */
  count: string;
  /** Field that says whether a workspace has any trigger of this kind. */
  used?: string;
  /** Further fields beside the number. */
  details?(app: App, runnable: TriggeredRunnable): Promise<Record<string, unknown>>;
}

/** Scripts or flows: what triggers start. */
export interface RunnableKind {
  is_flow: boolean;
  /**
   * The deployed version at a path, with who may read it.
   * @throws NotFound, or NotRunnable for one that is archived or not ready yet
   */
  deployedByPath(app: App, workspace_id: string, path: string): Readable | Promise<Readable>;
}

interface Readable {
  path: string;
  extra_perms: Record<string, boolean>;
}

/** Deletion of rows after their retention period. */
export interface Retention {
  tables: readonly Table[];
  /** Deletes expired rows in small transactions; yields after each. */
  deleteExpired(app: App, now: Date): AsyncIterable<void>;
}

/** The parts of a context that canceling jobs uses. */
export type CancelContext = Pick<Context, "app" | "username" | "write">;

/** Jobs that count as canceled although they have not stopped. */
export interface AbandonedJobs {
  workspace_id: string;
  /** Condition on the table of jobs. */
  which: SQL;
  reason: string;
  /** Username of the user who canceled them. */
  by: string;
}

/** A change as it stands in the audit log. */
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
  /** In a transaction, after all stored values are encrypted with the workspace's new key. */
  workspaceKeyChanged?(app: App, tx: Tx, workspace_id: string): Promise<void>;
  /** The workspace is archived, deleted or moved: cancels all jobs that have not ended, or those that run. */
  workspaceClosing?(
    ctx: CancelContext,
    workspace_id: string,
    how: { reason: string; which: "unfinished" | "running" },
  ): Promise<void>;
  /** After the commit that archived the workspace or brought it back. */
  workspaceArchived?(app: App, workspace_id: string): void;
  /**
   * In the first transaction of a change of id.
   * @throws BadRequest when something of the workspace cannot be under the new id
   */
  workspaceMoving?(tx: Tx, from: string, to: string): Promise<void>;
  /** In the transaction that deletes the row of the workspace, when almost all other rows of it are deleted. */
  workspaceDeleted?(tx: Tx, workspace_id: string): Promise<void>;
  /** In a transaction: ends jobs as canceled that did not stop in time. */
  jobsAbandoned?(app: App, tx: Tx, jobs: AbandonedJobs): Promise<void>;
  /** In the transaction that deletes jobs: deletes what is stored beside them. At most as many as one statement takes. */
  jobsDeleted?(tx: Tx, job_ids: string[]): Promise<void>;
  /** On the leader, when the clock was set back: corrects stored times in the future, so that nothing waits longer. */
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
   * Tables whose rows `on.workspaceDeleted` deletes with what depends on them. The other tables with a `workspace_id` are
   * emptied before.
   */
  tablesDeletedLast?: readonly Table[];
  /** Drops what is cached of a workspace; called after a commit. */
  invalidateWorkspace?(app: App, workspace_id: string): void;
}
