import type { AnyColumn, SQL } from "drizzle-orm";
import type { PathTable } from "../../database/path-table.ts";
import type { App } from "./context.ts";

/** A kind of items, each of which stands at a path and has grants of its own. */
export interface ItemKind {
  /** As operations on grants, drafts and favorites name it. */
  kind: string;
  table: PathTable;
  /** Which rows exist for callers; left out, all. */
  live?: SQL | undefined;
  /** Which rows stand in lists, and are counted; left out, those that are live. */
  listed?: SQL | undefined;
  /** What the counts of a folder's items call it; left out, the kind with an `s`. */
  countedAs?: string;
  /** Drops an item from the caches of all servers; called after the commit. */
  invalidate?(app: App, workspace_id: string, path: string): void;
}

/** A column of a workspace's rows that holds the path of an item. */
export interface PathColumn {
  column: AnyColumn;
  /** What stands before the path, such as `$script:`; left out, nothing. */
  prefixes?: readonly string[];
  /**
   * What a row says of its own path. `occupied`: something is there, such as a draft, and nothing else moves to it. `stale`:
   * the row may be left over from what was there once, and is deleted when something moves there. Left out, the path is
   * that of another item.
   */
  own?: "occupied" | "stale";
}
