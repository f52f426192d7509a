/**
 * What a feature contributes to what concerns all features. Each declares it once, in its `feature.ts`; whoever needs all
 * of them (rights, renaming, key rotation, export, retention …) walks over `app.features` and imports no feature.
 */

import type { AnyColumn } from "drizzle-orm";
import type { Tx } from "../../database/database.ts";
import type { App } from "./context.ts";
import type { ItemKind, PathColumn } from "./item-kind.ts";
import type { MentioningJson, Person, Renaming, Revocation, RevokedWork } from "./person.ts";

export interface Feature {
  /** Below `src/features`, such as `code/scripts`. */
  folder: string;
  /** Kinds of items with grants of their own: operations on grants, counts of folders and renamings reach them. */
  itemKinds?: readonly ItemKind[];
  /** Columns that hold paths, beside those of the item kinds: they follow when a user is renamed. */
  pathColumns?: readonly PathColumn[];
  /** Columns that hold a username, such as `created_by`: they follow when a user is renamed. */
  usernameColumns?: readonly AnyColumn[];
  /** JSON columns that mention paths: they follow when a user is renamed. */
  mentioningJson?: readonly MentioningJson[];
  /** What else the feature does when something happens elsewhere, in the transaction of it. */
  on?: {
    /** A user is called differently in a workspace. The declared columns have been rewritten. */
    userRenamed?(app: App, tx: Tx, renaming: Renaming): Promise<void>;
    /** A member left a workspace: deletes what they kept there for themselves. */
    memberLeft?(app: App, tx: Tx, person: Person): Promise<void>;
    /** A person lost their access to a workspace: they left, were disabled, or their account was deleted. */
    accessRevoked?(tx: Tx, person: Person, revocation: Revocation): Promise<RevokedWork>;
  };
}

/** `App` gets its features here, since what they declare takes an `App`: context.ts need not know of them. */
declare module "./context.ts" {
  interface App {
    readonly features: readonly Feature[];
  }
}
