import type { AnyColumn } from "drizzle-orm";
import type { Reader, Tx } from "../../database/database.ts";
import type { Part } from "../../database/slices.ts";
import type { App, UserContext, WorkspaceContext } from "./context.ts";

/** A user in a workspace, as whom jobs run. */
export interface RunOwner {
  workspace_id: string;
  username: string;
  email: string;
}

/** A user's former and new username in a workspace. `u/<from>/…` becomes `u/<to>/…`. */
export interface RenameParameters {
  workspace_id: string;
  email: string;
  from: string;
  to: string;
  /** Rewrites JSON text; returns the same text if it mentions no path that moves. */
  rewrite: Record<JsonForm, (json: string) => string>;
}

/**
 * The form of a JSON column, which determines where it mentions paths.
 *
 * - `references`: any value, with references such as `$var:u/ann/key`;
 * - `flow`: a flow, an app or a draft: references, the paths of what is run, and paths in quotes in expressions;
 * - `names`: settings and secrets of signatures: texts that are paths, references or targets such as `script/u/ann/x`;
 * - `policy`: an app's policy: targets of its components, the user they run as, and their inputs;
 * - `storage`: the configuration of a workspace's object storage: paths of its resources.
 */
export type JsonForm = "references" | "flow" | "names" | "policy" | "storage";

/** A JSON column of a workspace's rows that mentions paths. */
export interface MentioningJson {
  column: AnyColumn;
  /** The column that identifies a row within its workspace. */
  key: AnyColumn;
  form: JsonForm;
}

/** Why a user's access to a workspace ends. */
export interface Revocation {
  by: string;
  reason: string;
}

/** Jobs and runs that end with a user's access to a workspace. */
export interface RevokedWork {
  /** Runs that were marked as canceled. */
  canceled_runs: number;
  /** Whether these are all; otherwise `finish` cancels the rest. */
  isAll: boolean;
  /** Ends the marked runs immediately; call it after the commit. */
  finish(ctx: UserContext | WorkspaceContext): Promise<void>;
}

/** Handlers of a feature for changes to a user, called in the transaction of the change. */
export interface PersonEvents {
  /**
   * A user is being renamed in a workspace, and the declared columns were already rewritten. Yields further work on
   * tables with many rows, in parts (`database/slices.ts`).
   * @param how whether all parts run in one transaction, which must not yield to the event loop
   */
  userRenaming?(db: Reader, renaming: RenameParameters, how: { inTransaction: boolean }): AsyncIterable<Part>;
  /** A user was renamed in a workspace. Called last, in a transaction. */
  userRenamed?(app: App, tx: Tx, renaming: RenameParameters): Promise<void>;
  /** A member left a workspace: deletes the rows that only they used. */
  memberLeft?(app: App, tx: Tx, person: RunOwner): Promise<void>;
  /** A user lost access to a workspace: they left, were disabled, or their account was deleted. */
  accessRevoked?(app: App, tx: Tx, person: RunOwner, revocation: Revocation): Promise<RevokedWork>;
}
