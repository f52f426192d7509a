/**
 * Sealed values inside what is stored as JSON: arguments of jobs that have not ended, of schedules, WebSocket triggers,
 * handlers and saved inputs, answers that a flow has been given, and what flows, apps and resources say themselves
 * (`$encrypted:…`). They follow the key of their workspace as its secrets do. Jobs that have ended keep the old text: nothing runs with it any more, and there are too many of them.
 */
import type { AnyColumn, SQL } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { sql } from "../../../database/kit.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { resources } from "../../assets/resource-tables.ts";
import { apps, appVersions } from "../../code/apps/tables.ts";
import { drafts } from "../../code/drafts/tables.ts";
import { flowFrames, flowItems, flowResumes, flowVersions } from "../../code/flows/tables.ts";
import { inputs } from "../../runs/api/inputs/tables.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import { schedules } from "../../triggers/schedules/tables.ts";
import { websocketTriggers } from "../../triggers/websocket/tables.ts";

const SEALED = /\$encrypted:(v1:[A-Za-z0-9+/=]+)/g;

interface Holder {
  table: SQL;
  /** Column with JSON text. */
  text: string;
  /** Columns that tell its rows apart within the workspace. */
  key: readonly string[];
  /** Whose arguments they are, where the row says so: those that the server sealed are bound to that person. */
  email: SQL;
  ours: (workspace_id: string) => SQL;
}

type Table =
  | typeof schedules
  | typeof inputs
  | typeof flowVersions
  | typeof appVersions
  | typeof apps
  | typeof drafts
  | typeof resources
  | typeof websocketTriggers
  | typeof workspaceSettings;

/** @param owned whether there is a column `email` */
function holder(table: Table, text: string, key: "id" | "path" | "workspace_id", owned: boolean): Holder {
  return {
    table: sql`${table}`,
    text,
    key: [key],
    email: owned ? sql`${table}.email` : sql`NULL`,
    ours: (workspace_id) => sql`${table}.workspace_id = ${workspace_id}`,
  };
}

/** Written out, as the condition of the index of these few jobs is. */
const inState = (state: "queued" | "running") => sql.raw(`jobs.state = '${state}'`);

function ofJobs(
  text: "args" | "preprocessor_input" | "flow_body" | "raw_flow",
  state: "queued" | "running",
): Holder {
  return {
    table: sql`${jobs}`,
    text,
    key: ["id"],
    email: sql`jobs.email`,
    ours: (workspace_id) => sql`${jobs.workspace_id} = ${workspace_id} AND ${inState(state)}`,
  };
}

const running = (frame: AnyColumn, workspace_id: string) =>
  sql`${frame} IN (SELECT ${jobs.id} FROM ${jobs} WHERE ${jobs.workspace_id} = ${workspace_id} AND ${inState("running")})`;

/**
 * What a flow that has not ended remembers: its frames wait as running jobs.
 * @param frame the column that names the frame's job
 */
function ofFlows(frame: AnyColumn, text: string, key: string[]): Holder {
  return {
    table: sql`${frame.table}`,
    text,
    key,
    email: sql`(SELECT ${jobs.email} FROM ${jobs} WHERE ${jobs.id} = ${frame})`,
    ours: (workspace_id) => running(frame, workspace_id),
  };
}

const JOB_TEXTS = ["args", "preprocessor_input", "flow_body", "raw_flow"] as const;
const JOB_STATES = ["queued", "running"] as const;

const HOLDERS: Holder[] = [
  ofFlows(flowFrames.job_id, "state", ["job_id"]),
  ofFlows(flowItems.job_id, "items", ["job_id", "module_id"]),
  ofFlows(flowResumes.frame_id, "value", ["job_id", "resume_id"]),
  ...["args", "on_failure_extra_args", "on_recovery_extra_args", "on_success_extra_args"].map((text) =>
    holder(schedules, text, "path", true),
  ),
  ...["url_runnable_args", "initial_messages"].map((text) => holder(websocketTriggers, text, "path", true)),
  holder(workspaceSettings, "settings", "workspace_id", false),
  holder(inputs, "args", "id", true),
  holder(flowVersions, "value", "id", false),
  holder(appVersions, "value", "id", false),
  holder(resources, "value", "path", false),
  holder(apps, "policy", "path", false),
  { ...holder(drafts, "value", "path", false), key: ["kind", "path"] },
];

/** Seals a text anew; undefined when it does not open. @param email whose argument it may be */
export type Reseal = (text: string, email: string | undefined) => string | undefined;

/** To be called in the transaction that exchanges the key, while the rows still carry the old id. */
export async function resealStored(tx: Tx, workspace_id: string, reseal: Reseal): Promise<void> {
  for (const state of JOB_STATES) {
    const [first, ...rest] = JOB_TEXTS.map((text) => ofJobs(text, state));
    // There may be many: they are gone through once for all of their texts, and as a rule none holds any.
    const anyText = JOB_TEXTS.map((text) => containsText(jobs[text], "$encrypted:"));
    const [any] = await tx.rows(
      sql`SELECT 1 FROM ${jobs} WHERE ${first!.ours(workspace_id)} AND (${sql.join(anyText, sql` OR `)}) LIMIT 1`,
    );
    if (any) for (const holder of [first!, ...rest]) await resealIn(tx, workspace_id, holder, reseal);
  }
  for (const holder of HOLDERS) await resealIn(tx, workspace_id, holder, reseal);
  // A flow that goes on at this moment has read the old texts: it gives way, and reads the new ones.
  await tx
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(
      sql`${flowFrames.root_job} = ${flowFrames.job_id} AND ${running(flowFrames.job_id, workspace_id)}`,
    );
}

type Row = { text: string; email: string | null } & Record<`key${number}`, string | number>;

async function resealIn(tx: Tx, workspace_id: string, holder: Holder, reseal: Reseal): Promise<void> {
  const { table, email } = holder;
  const column = (name: string) => sql`${table}.${sql.identifier(name)}`;
  const text = column(holder.text);
  const keys = holder.key.map((name, at) => sql`${column(name)} AS ${sql.identifier(`key${at}`)}`);
  const ours = holder.ours(workspace_id);
  const rows = await tx.rows<Row>(
    sql`SELECT ${sql.join(keys, sql`, `)}, ${text} AS "text", ${email} AS email FROM ${table}
        WHERE ${ours} AND ${containsText(text, "$encrypted:")}`,
  );
  for (const row of rows) {
    const anew = row.text.replace(SEALED, (whole, sealed: string) => {
      const other = reseal(sealed, row.email ?? undefined);
      return other === undefined ? whole : `$encrypted:${other}`;
    });
    if (anew === row.text) continue;
    const same = holder.key.map((name, at) => sql`${column(name)} = ${row[`key${at}`]}`);
    await tx.rows(
      sql`UPDATE ${table} SET ${sql.identifier(holder.text)} = ${anew} WHERE ${ours} AND ${sql.join(same, sql` AND `)}`,
    );
  }
}
