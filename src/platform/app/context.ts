/** Types only: what every part may ask for. App carries parts, not features. */

import type { Database, Tx } from "../../database/database.ts";
import type { Runner } from "../../engines/runner/types.ts";
import type { Log } from "../../lib/logging/log.ts";
import type { Meters } from "../../lib/logging/meters.ts";
import type { Config } from "../config/config.ts";
import type { Settings } from "../config/store.ts";
import type { Events } from "../events/events.ts";
import type { Leader } from "../loops/leader.ts";
import type { Queue } from "../queue/queue.ts";
import type { Relay } from "./relay.ts";

export interface App {
  readonly config: Config;
  /** What super admins have set for the instance: read at once, never kept, since it changes while the server runs. */
  readonly settings: Settings;
  readonly db: Database;
  readonly queue: Queue;
  readonly runner: Runner;
  readonly events: Events;
  readonly relay: Relay;
  readonly log: Log;
  readonly meters: Meters;
  /** Now, as all servers of the database have it; tests move it. */
  readonly clock: () => Date;
  /** Public address without a trailing slash, and the one that jobs on this machine use. */
  readonly urls: { readonly base: string; readonly internal: string };
  /** The key that wraps the workspaces' keys: 32 bytes. */
  readonly instanceKey: Uint8Array;
  /** Which server does what is done once for all of a database. */
  readonly leader: Leader;
  /** False while the server drains: no new jobs. */
  accepting: boolean;
  /** True from when the server is told to stop: connections are closed after their answer, and health fails. */
  leaving: boolean;
}

/** What is known of a token, before any workspace is looked at. */
export interface Identity {
  email: string;
  super_admin: boolean;
  devops: boolean;
  /** Undefined for the operator of this machine (the CLI on the data directory), who has no token. */
  token: TokenFacts | undefined;
}

export interface TokenFacts {
  /** SHA-256 of the value, in hex: the key it is stored and revoked by. */
  hash: string;
  prefix: string;
  label: string | undefined;
  /** Undefined or empty: unrestricted. */
  scopes: string[] | undefined;
  /** Set: the token answers only in this workspace. */
  workspace_id: string | undefined;
  expiration: Date | undefined;
  /** Set while the token is that of a running job. */
  job: { id: string; permissioned_as: string } | undefined;
}

/** A person's place in one workspace. */
export interface Member {
  workspace_id: string;
  email: string;
  username: string;
  is_admin: boolean;
  operator: boolean;
  disabled: boolean;
  /** An admin made them a member before they had an account, and they have not come yet: nobody runs as them. */
  unasked?: boolean;
  created_at: Date;
  /** Names of the groups it is in. `all`, which everybody is in, is not among them. */
  groups: string[];
  /** What it may do with what is in a folder, by the folder's name; in one that is not here, nothing. */
  folders: ReadonlyMap<string, FolderRight>;
}

/** Each says more than the one before: owners also give rights, rename and archive. */
export type FolderRight = "read" | "write" | "owner";

/** Who calls. */
export interface Caller {
  /** Undefined: nobody, the call carried no credentials. */
  identity: Identity | undefined;
  /** Set on operations of a workspace whose access rule asks for a member. */
  member: Member | undefined;
}

/** What an operation's `run` gets beside its input. */
export interface Context {
  readonly app: App;
  readonly caller: Caller;
  /** The name audit rows, `created_by` and the like show. */
  readonly username: string;
  /** The request, whose `signal` is aborted when the caller hangs up; in-process calls of the CLI are requests too, handed over without a socket. */
  readonly request: Request;
  /** What the lines of the log name the request by; undefined where something else than a call is the reason. */
  readonly request_id: string | undefined;
  /** A transaction that leaves the operation's audit row together with the change; `lazy` is the database's. */
  write<T>(audited: AuditDetails & { lazy?: boolean }, work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Leaves the operation's audit row, and the webhook event that goes with it, in a transaction of the caller's own: for
   * what is known only once the work is done.
   */
  audit(tx: Tx, details: AuditDetails): Promise<void>;
}

/** How an operation appears in the audit log. */
export interface Audit {
  /** The name the row carries, e.g. `variables.create`. */
  operation: string;
  action_kind: "Create" | "Update" | "Delete" | "Execute";
}

/** What an audit row says beside who did it and when. */
export interface AuditDetails {
  /** What was touched. */
  resource?: string;
  /** They hold no secret. */
  parameters?: Record<string, string>;
  /** The e-mail of who logs in by this call. */
  by?: string;
  /** What was done, where that is not what the operation declares: a secret is read on the way to something else. */
  as?: Audit;
}

/** A context whose caller is known to be a member (or to stand above): what workspace operations get. */
export interface WorkspaceContext extends Context {
  readonly caller: Caller & { identity: Identity; member: Member };
}

/** A whole workspace, where it does not matter who asks: what the server reads for everybody. */
export interface InWorkspace {
  readonly app: App;
  readonly caller: { readonly member: Pick<Member, "workspace_id"> };
}

export interface UserContext extends Context {
  readonly caller: Caller & { identity: Identity };
}
