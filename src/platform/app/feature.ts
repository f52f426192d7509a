/**
 * What a feature contributes to what concerns all features. Each declares it once, in its `feature.ts`; whoever needs all
 * of them (rights, renaming, key rotation, export, retention …) walks over `app.features` and imports no feature.
 */

import type { AnyColumn } from "drizzle-orm";
import type { Tx } from "../../database/database.ts";
import type { ItemKind, PathColumn } from "./item-kind.ts";
import type { MentioningJson, PersonEvents } from "./person.ts";

/** A version whose dependencies are resolved again by a job. */
export interface RelockTarget {
  kind: "dependencies" | "flowdependencies";
  script_path: string;
  script_hash?: string;
  flow_version?: number;
  language?: string;
  /** Username of whoever deployed it: the job runs as that person. */
  created_by: string;
}

/** Items whose code imports deployed scripts. */
export interface Importers {
  kind: "script" | "flow";
  /** Which versions are locked again, of the items at these paths, when a script that they import is deployed. */
  relockTargets(tx: Tx, workspace_id: string, paths: string[]): Promise<RelockTarget[]>;
}

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
  /** What else the feature does when something happens elsewhere. */
  on?: PersonEvents;
  /** The feature's items whose code imports deployed scripts. */
  importers?: Importers;
}

// Declared here, since features are declared in terms of the app: the other way round would be a circle.
declare module "./context.ts" {
  interface App {
    /** All features, with what each declares for what concerns all of them. */
    readonly features: readonly Feature[];
  }
}
