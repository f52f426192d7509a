import type { AnyColumn, SQL } from "drizzle-orm";
import type { PathTable } from "../../database/path-table.ts";
import type { App } from "./context.ts";

/** A kind of items. Each item has a path and grants of its own. */
export interface ItemKind {
  /** Its name in operations on grants, drafts and favorites. */
  kind: string;
  table: PathTable;
  /** Condition for rows that exist for callers; default: all. */
  live?: SQL | undefined;
  /** Condition for rows that are listed and counted; default: `live`. */
  listed?: SQL | undefined;
  /** Its name in the counts of a folder's items; default: the kind with an `s`. */
  countedAs?: string;
  /**
   * Webhook event of an update. If rows are versions, it contains the newest version's hash, otherwise both paths.
   */
  updateEvent?: { type: string; version?: { hash: AnyColumn; seq: AnyColumn } };
  /** Drops an item from the caches of all servers; called after the commit. */
  invalidate?(app: App, workspace_id: string, path: string): void;
}

/** A column of a workspace's rows that holds the path of an item. */
export interface PathColumn {
  column: AnyColumn;
  /** Prefixes before the path, such as `$script:`; default: none. */
  prefixes?: readonly string[];
  /**
   * Set if the path is the row's own. `occupied`: the path is in use, for example by a draft, and no other item can move
   * to it. `stale`: the row may remain from an earlier item, and is deleted when an item moves to the path. Default: the
   * path is that of another item.
   */
  own?: "occupied" | "stale";
}
