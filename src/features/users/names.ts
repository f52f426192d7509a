/** Where a member's name stands: the tables that hold it, and texts that mention what stands below `u/<name>/`. */
import { type AnyColumn, and, eq, type SQL, sql } from "drizzle-orm";
import type { App } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import type { Tx } from "../../database/database.ts";
import { drafts } from "../drafts/tables.ts";
import { flows, flowVersions } from "../flows/tables.ts";
import { forgetFlows } from "../flows/versions.ts";
import { resources, resourceTypes } from "../resources/tables.ts";
import { scripts } from "../scripts/tables.ts";
import { forgetScripts } from "../scripts/versions.ts";
import { variables } from "../variables/tables.ts";

type Item = typeof variables;
type Version = typeof drafts;

/** What has a path and may be shared by `extra_perms`. The columns they have in common are those of a variable. */
const ITEMS = [scripts, flows, variables, resources] as unknown as Item[];
/** What else has a path. */
const OTHER_PATHS = [flowVersions, drafts] as unknown as Version[];
/** What says who made it. */
const MADE_BY = [scripts, flowVersions, drafts, resources, resourceTypes] as unknown as Version[];

/** One path below `prefix` in the workspace, if there is any. */
export async function anyPathBelow(
  tx: Tx,
  workspace_id: string,
  prefix: string,
): Promise<string | undefined> {
  for (const table of [...ITEMS, ...(OTHER_PATHS as unknown as Item[])]) {
    const [row] = await tx
      .select({ path: table.path })
      .from(table)
      .where(and(eq(table.workspace_id, workspace_id), startsWith(table.path, prefix)))
      .limit(1);
    if (row) return row.path;
  }
  return undefined;
}

/** Moves everything below one prefix to another, in one statement a table. */
export async function movePaths(tx: Tx, workspace_id: string, from: string, to: string): Promise<void> {
  for (const table of [...ITEMS, ...(OTHER_PATHS as unknown as Item[])]) {
    await tx
      .update(table)
      .set({ path: moved(table.path, from, to) })
      .where(and(eq(table.workspace_id, workspace_id), startsWith(table.path, from)));
  }
}

/** The text of a column with one prefix in place of another. */
export function moved(column: AnyColumn, from: string, to: string): SQL {
  return sql`${to} || substr(${column}, ${sql.raw(String([...from].length + 1))})`;
}

/** Says that things were made by another name. */
export async function renameMakers(tx: Tx, workspace_id: string, from: string, to: string): Promise<void> {
  for (const table of MADE_BY) {
    await tx
      .update(table)
      .set({ created_by: to })
      .where(and(eq(table.workspace_id, workspace_id), eq(table.created_by, from)));
  }
  await tx
    .update(flows)
    .set({ edited_by: to })
    .where(and(eq(flows.workspace_id, workspace_id), eq(flows.edited_by, from)));
}

/**
 * Gives what was shared with one name (`u/ann`) to another, or takes it away.
 * @param to undefined takes it away
 */
export async function changeGrants(
  app: App,
  tx: Tx,
  workspace_id: string,
  from: string,
  to: string | undefined,
): Promise<void> {
  tx.afterCommit(() => {
    forgetScripts(app, workspace_id);
    forgetFlows(app, workspace_id);
  });
  for (const table of ITEMS) {
    const shared = await tx
      .selectDistinct({ path: table.path, extra_perms: table.extra_perms })
      .from(table)
      .where(and(eq(table.workspace_id, workspace_id), mentions(table.extra_perms, JSON.stringify(from))));
    for (const { path, extra_perms } of shared) {
      if (!(from in extra_perms)) continue;
      const { [from]: given = false, ...others } = extra_perms;
      await tx
        .update(table)
        .set({ extra_perms: to === undefined ? others : { ...others, [to]: given } })
        .where(
          and(eq(table.workspace_id, workspace_id), eq(table.path, path), eq(table.extra_perms, extra_perms)),
        );
    }
  }
}

/** Whether a text, or JSON as it is stored, holds another text. */
export function mentions(column: AnyColumn, text: string): SQL {
  return sql`replace(${column}, ${text}, '') <> ${column}`;
}

/** Rewrites what mentions paths below `u/<from>/` to mention `u/<to>/`. Both are usernames: no character needs escaping. */
export interface Follow {
  /** JSON text: references such as `$var:u/ann/key`, wherever a string begins with one. */
  references: (json: string) => string;
  /** JSON text of a flow: references, the paths of its steps, and paths in quotes inside of expressions. */
  flow: (json: string) => string;
  path: (text: string) => string;
}

export function follow(from: string, to: string): Follow {
  // A slash may be escaped in JSON (RFC 8259 §7), as some languages do.
  const below = `u\\\\?/${from}\\\\?/`;
  const reference = new RegExp(`(?<!\\\\)"(\\$(?:var|jsonvar|res):)${below}`, "g");
  const step = new RegExp(`(?<!\\\\)("path"\\s*:\\s*")${below}`, "g");
  const expression = /(?<!\\)"(?:expr|skip_expr)"\s*:\s*"(?:[^"\\]|\\.)*"/g;
  const quoted = new RegExp(`(\\\\"|'|\`)((?:\\$(?:var|jsonvar|res):)?)${below}`, "g");
  const references = (json: string) => json.replace(reference, `"$1u/${to}/`);
  const prefix = `u/${from}/`;
  return {
    references,
    flow: (json) =>
      references(json)
        .replace(step, `$1u/${to}/`)
        .replace(expression, (text) => text.replace(quoted, `$1$2u/${to}/`)),
    path: (text) => (text.startsWith(prefix) ? `u/${to}/${text.slice(prefix.length)}` : text),
  };
}

/** The same for a JSON value; the value itself when nothing in it changes. */
export function rewritten<T>(value: T, rewrite: (json: string) => string): T {
  const text = JSON.stringify(value);
  const after = rewrite(text);
  return after === text ? value : (JSON.parse(after) as T);
}
