import type { AnyColumn } from "drizzle-orm";
import type { Reader, Tx } from "../../database/database.ts";
import type { Part } from "../../database/slices.ts";
import type { App, UserContext, WorkspaceContext } from "./context.ts";

/** A person in a workspace. */
export interface RunOwner {
  workspace_id: string;
  username: string;
  email: string;
}

/** A person's new username in a workspace. `u/<from>/…` becomes `u/<to>/…`. */
export interface RenameParameters {
  workspace_id: string;
  email: string;
  from: string;
  to: string;
  /** Rewrites JSON text; returns the same text when it mentions nothing that moves. */
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
  /** The column that tells the rows of one workspace apart. */
  key: AnyColumn;
  form: JsonForm;
}

/** Why a person's access to a workspace ends. */
export interface Revocation {
  by: string;
  reason: string;
}

/** Work that ends with a user's access to a workspace. */
export interface RevokedWork {
  /** Runs that were marked as canceled. */
  canceled_runs: number;
  /** False if there are more, which `finish` cancels too. */
  isAll: boolean;
  /** Ends the marked runs at once; to be called after the commit. */
  finish(ctx: UserContext | WorkspaceContext): Promise<void>;
}

/** Handlers of a feature for changes to a user, called in the transaction of the change. */
export interface PersonEvents {
  /**
   * A user is being renamed in a workspace, and the declared columns are already rewritten: yields the work on rows of
   * which there may be many. Positions are read from `db`, between the parts.
   * @param how whether all parts run in one transaction, which must not yield to the event loop
   */
  userRenaming?(db: Reader, renaming: RenameParameters, how: { inTransaction: boolean }): AsyncIterable<Part>;
  /** A user was renamed in a workspace; the last work, in a transaction. */
  userRenamed?(app: App, tx: Tx, renaming: RenameParameters): Promise<void>;
  /** A member left a workspace: deletes what they kept there for themselves. */
  memberLeft?(app: App, tx: Tx, person: RunOwner): Promise<void>;
  /** A person lost their access to a workspace: they left, were disabled, or their account was deleted. */
  accessRevoked?(app: App, tx: Tx, person: RunOwner, revocation: Revocation): Promise<RevokedWork>;
}
