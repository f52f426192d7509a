/**
 * Where texts stand that a workspace's key has sealed: a place that another feature keeps one in is a line here. What
 * webhooks are signed with is not among them, since no key from elsewhere has sealed it (`key-rotation.ts`).
 */
import { type AnyColumn, and, eq, ne, type SQL, sql } from "drizzle-orm";
import { containsText } from "../../database/conditions.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { jobs } from "../../queue/tables.ts";
import { apps, appVersions } from "../apps/tables.ts";
import { drafts } from "../drafts/tables.ts";
import { flowVersions } from "../flows/tables.ts";
import { inputs } from "../inputs/tables.ts";
import { MARK, purposeOf } from "../jobs/sealed.ts";
import { schedules } from "../schedules/tables.ts";
import { variables } from "../variables/tables.ts";

interface Place {
  text: AnyColumn;
  /** What tells the workspace's rows apart. */
  key: AnyColumn;
  workspace_id: AnyColumn;
  /** Which rows; left out, all. */
  where?: SQL | undefined;
  /** Whom what the server sealed in a job's arguments is for; set where the text is JSON that mentions sealed texts. */
  email?: AnyColumn | undefined;
  isJson?: boolean;
}

const WHOLE: Place[] = [
  {
    text: variables.value,
    key: variables.path,
    workspace_id: variables.workspace_id,
    where: eq(variables.is_secret, true),
  },
];

const json = (
  { workspace_id, email }: { workspace_id: AnyColumn; email?: AnyColumn },
  text: AnyColumn,
  key: AnyColumn,
  where?: SQL,
): Place => ({ text, key, workspace_id, where: and(where, containsText(text, MARK)), email, isJson: true });

const unfinished = ne(jobs.state, "completed");
const { workspace_id } = drafts;

const IN_JSON: Place[] = [
  json(jobs, jobs.args, jobs.id, unfinished),
  json(jobs, jobs.preprocessor_input, jobs.id, unfinished),
  json(jobs, jobs.raw_flow, jobs.id, unfinished),
  json(inputs, inputs.args, inputs.id),
  json(schedules, schedules.args, schedules.path),
  json(flowVersions, flowVersions.value, flowVersions.id),
  json(appVersions, appVersions.value, appVersions.id),
  json(apps, apps.policy, apps.path),
  json({ workspace_id }, drafts.value, drafts.path),
];

/** A text as it is stored, and what seals in it were made for besides the workspace. */
export interface Stored {
  place: Place;
  key: string | number;
  value: string;
  purpose: string | undefined;
}

/** Everything of a workspace that is, or holds, what its key has sealed. */
export async function sealedOf(db: Reader, workspace_id: string): Promise<Stored[]> {
  const found: Stored[] = [];
  for (const place of [...WHOLE, ...IN_JSON]) {
    const { text, key, email, where } = place;
    const rows = await db.rows<{ key: string | number; value: string; email: string | null }>(
      sql`SELECT ${key} AS "key", ${text} AS "value", ${email ?? sql`NULL`} AS "email" FROM ${text.table}
          WHERE ${and(eq(place.workspace_id, workspace_id), where)}`,
    );
    for (const row of rows) {
      const purpose = row.email === null ? undefined : purposeOf({ email: row.email });
      found.push({ place, key: row.key, value: row.value, purpose });
    }
  }
  return found;
}

const SEALED = new RegExp(`${MARK.replace("$", "\\$")}([^"\\\\]+)`, "g");

/** The sealed texts in what is stored. */
export function textsOf({ place, value }: Stored): string[] {
  return place.isJson ? Array.from(value.matchAll(SEALED), ([, text]) => text!) : [value];
}

/** What is stored with other texts in place of the sealed ones. */
export function withTexts({ place, value }: Stored, anew: (text: string) => string): string {
  return place.isJson ? value.replace(SEALED, (_, text) => MARK + anew(text)) : anew(value);
}

export interface Changed extends Stored {
  after: string;
}

/** Rows of one statement: each takes three of the parameters that both databases allow some thousands of. */
const AT_A_TIME = 500;

/** Puts what rows hold from now on in place of what they held. */
export async function storeTexts(tx: Tx, workspace_id: string, anew: readonly Changed[]): Promise<void> {
  const places = new Map<Place, Changed[]>();
  for (const stored of anew) places.set(stored.place, [...(places.get(stored.place) ?? []), stored]);
  for (const [place, rows] of places) {
    for (let at = 0; at < rows.length; at += AT_A_TIME) {
      await storeSome(tx, workspace_id, place, rows.slice(at, at + AT_A_TIME));
    }
  }
}

async function storeSome(tx: Tx, id: string, place: Place, rows: readonly Changed[]): Promise<void> {
  const { text, key, workspace_id } = place;
  const values = rows.map((row) => sql`(${row.key}, ${row.value}, ${row.after})`);
  // PostgreSQL takes what it is given for texts, unless it is told; both call the columns of nameless values so.
  const given = typeof rows[0]!.key === "number" ? sql`CAST(anew.column1 AS integer)` : sql`anew.column1`;
  await tx.rows(
    sql`UPDATE ${text.table} SET ${sql.identifier(text.name)} = anew.column3
        FROM (VALUES ${sql.join(values, sql`, `)}) AS anew
        WHERE ${workspace_id} = ${id} AND ${key} = ${given} AND ${text} = anew.column2`,
  );
}
