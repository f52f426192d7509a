/** Types of the running app and of a call. App carries platform parts, not features. */

import type { Database, Tx, WriteOptions } from "../../database/database.ts";
import type { Runner } from "../../engines/runner/types.ts";
import type { Awaitable } from "../../lib/async/awaitable.ts";
import type { Log } from "../../lib/logging/log.ts";
import type { Meters } from "../../lib/logging/meters.ts";
import type { Config } from "../config/config.ts";
import type { Settings } from "../config/settings-store.ts";
import type { Events } from "../events/events.ts";
import type { Leader } from "../loops/leader.ts";
import type { Queue } from "../queue/queue.ts";
import type { ClusterBus } from "./relay.ts";

export interface App {
  readonly config: Config;
  /**
   * Settings of the instance, set by super admins. Read them at each use and do not cache them: they change at run
   * time.
   */
  readonly settings: Settings;
  readonly db: Database;
  readonly queue: Queue;
  readonly runner: Runner;
  readonly events: Events;
  readonly bus: ClusterBus;
  readonly log: Log;
  readonly meters: Meters;
  /** Current time, shared by all servers of the database. Tests can move it. */
  readonly clock: () => Date;
  /** Public address and the address for jobs on this machine, both without a trailing slash. */
  readonly urls: { readonly base: string; readonly internal: string };
  /** Key that encrypts the workspaces' keys: 32 bytes. */
  readonly instanceKey: Uint8Array;
  /** Tells which server runs the tasks that must run once per database. */
  readonly leader: Leader;
  /** False while the server drains: it accepts no new jobs. */
  acceptsJobs: boolean;
  /** True once the server has been told to stop: connections close after their response, and health checks fail. */
  isStopping: boolean;
}

/** Identity behind a token, independent of any workspace. */
export interface Identity {
  email: string;
  super_admin: boolean;
  devops: boolean;
  /** Undefined for the local admin (the CLI on the data directory), who has no token. */
  token: TokenFacts | undefined;
}

export interface TokenFacts {
  /** SHA-256 of the token in hex; the token is stored and revoked by it. */
  hash: string;
  prefix: string;
  label: string | undefined;
  /** Undefined or empty: unrestricted. */
  scopes: string[] | undefined;
  /** Set: the token is valid only in this workspace. */
  workspace_id: string | undefined;
  expiration: Date | undefined;
  /** Set for the token of a running job. */
  job: { id: string; permissioned_as: string } | undefined;
}

/** A user's membership in one workspace. */
export interface Member {
  workspace_id: string;
  email: string;
  username: string;
  is_admin: boolean;
  operator: boolean;
  disabled: boolean;
  /** An admin added them before they had an account, and they have not logged in yet: no job may run as them. */
  unasked?: boolean;
  created_at: Date;
  /** Set while any user of the workspace is being renamed, which takes a while if they own many items. */
  renaming?: Renaming | undefined;
  /** Names of the member's groups, without the implicit group `all`. */
  groups: string[];
  /** Rights by folder name; no right in folders that are missing here. */
  folders: ReadonlyMap<string, FolderRight>;
}

/**
 * The new username of a user being renamed in a workspace. Until the end of the renaming, both names belong to them.
 */
export interface Renaming {
  from: string;
  to: string;
}

/** Each right includes the ones before it. Owners also manage grants, rename and archive. */
export type FolderRight = "read" | "write" | "owner";

/** The caller of an operation. */
export interface Caller {
  /** Undefined for calls without credentials. */
  identity: Identity | undefined;
  /** Set for workspace operations whose access rule requires a member. */
  member: Member | undefined;
}

/** The first argument of an operation's `run`. */
export interface Context {
  readonly app: App;
  readonly caller: Caller;
  /** Name recorded in audit rows, `created_by` and similar columns. */
  readonly username: string;
  /**
   * The request; its `signal` aborts when the caller hangs up. In-process calls of the CLI are requests too, passed
   * without a socket.
   */
  readonly request: Request;
  /** Request id in log lines; undefined for work that no request started. */
  readonly request_id: string | undefined;
  /** Runs `work` in a transaction that also inserts the operation's audit row. */
  write<T>(audited: AuditDetails & WriteOptions, work: (tx: Tx) => Awaitable<T>): Promise<T>;
  /**
   * Inserts the operation's audit row and its webhook event in the caller's transaction, for details that are known
   * only after the work.
   */
  audit(tx: Tx, details: AuditDetails): Awaitable<unknown>;
}

/** How an operation appears in the audit log. */
export interface AuditedAction {
  /** Operation name in the audit row, e.g. `variables.create`. */
  operation: string;
  action_kind: "Create" | "Update" | "Delete" | "Execute";
}

/** Details of an audit row beside actor and time. */
export interface AuditDetails {
  /** The item that was touched. */
  resource?: string;
  /** Must not contain secrets. */
  parameters?: Record<string, string>;
  /** E-mail of the user who logs in with this call. */
  actor_email?: string;
  /** Replaces the operation's declared action, for example when a secret is read as a side effect. */
  action?: AuditedAction;
}

/** Context of a workspace operation: the caller is a member, or a super admin acting as one. */
export interface WorkspaceContext extends Context {
  readonly caller: Caller & { identity: Identity; member: Member };
}

/** A workspace without a particular caller, for reads that the server does on behalf of everyone. */
export interface WorkspaceScope {
  readonly app: App;
  readonly caller: { readonly member: Pick<Member, "workspace_id"> };
}

export interface UserContext extends Context {
  readonly caller: Caller & { identity: Identity };
}
