/**
 * Declaration of a feature: its contribution to functions that span all features (permissions, renaming, key rotation,
 * export, retention). Each feature declares it once in its `feature.ts`. Such functions iterate over `app.features` and
 * import no feature.
 */

import type { AnyColumn } from "drizzle-orm";
import type { Reader } from "../../database/database.ts";
import type { Importers } from "./importers.ts";
import type { ItemKind, PathColumn } from "./item-kind.ts";
import type { JobEvents } from "./job-ends.ts";
import type { LifecycleContributions, LifecycleEvents } from "./lifecycle.ts";
import type { Loop } from "./loop.ts";
import type { MentioningJson, PersonEvents } from "./person.ts";

export interface Feature extends LifecycleContributions {
  /** Folder below `src/features`, such as `code/scripts`. */
  folder: string;
  /** Kinds of items with grants of their own: operations on grants, counts of folders and renamings reach them. */
  itemKinds?: readonly ItemKind[];
  /** Columns that hold paths, beside those of the item kinds: they are rewritten when a user is renamed. */
  pathColumns?: readonly PathColumn[];
  /** Columns that hold a username, such as `created_by`: they are rewritten when a user is renamed. */
  usernameColumns?: readonly AnyColumn[];
  /** JSON columns that mention paths: they are rewritten when a user is renamed. */
  mentioningJson?: readonly MentioningJson[];
  /** Whether an item of this feature gives rights to the members of the group with this name, which may not exist. */
  namesGroup?: (db: Reader, workspace_id: string, name: string) => Promise<boolean>;
  /** This feature's items whose code imports deployed scripts. */
  importers?: Importers;
  /** Handlers of events in other parts of the app. */
  on?: PersonEvents & JobEvents & LifecycleEvents;
  /** Background services: started in the order in which features depend on each other, stopped in reverse. */
  loops?: readonly Loop[];
}

// Declared here and not in `context.ts`, because feature declarations refer to App: the reverse would be an import
// cycle.
declare module "./context.ts" {
  interface App {
    /** All features, with their declarations. */
    readonly features: readonly Feature[];
  }
}
