/**
 * Storage of schedules and triggers of all kinds. Each has a path, runs a script or flow, and can be
 * disabled. It runs as its last editor, so that an edit by another user cannot use someone else's rights.
 * `trigger-operations.ts` creates their operations. Features declare what counts as a trigger
 * (lifecycle/trigger-counts).
 */
import { and, asc, desc, eq, type SQL } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { type PathTable, toPathTable } from "../../../database/path-table.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import {
  canRead,
  readableBy,
  requireManageAccess,
  requireWriteAccess,
} from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { toLimitOffset } from "../../../platform/http/operation.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { resolveOwnerEmail } from "./owner-email.ts";

/** Columns that all kinds of triggers have; this file uses no others. */
interface TriggerRow {
  workspace_id: string;
  path: string;
  /** The script or flow that runs. */
  script_path: string;
  is_flow: boolean;
  enabled: boolean;
  edited_by: string;
  edited_at: Date;
  /** E-mail of the last editor, as whom its runs act. */
  email: string;
  /** Grants of other users and groups. */
  extra_perms: Record<string, boolean>;
}

/** Fields of every trigger that the service sets. */
type EditColumns = "workspace_id" | "edited_by" | "edited_at" | "email" | "extra_perms";
type TableColumns = Parameters<typeof toPathTable<(typeof SHARED_COLUMNS)[number]>>[0];
const SHARED_COLUMNS = [
  "extra_perms",
  "script_path",
  "is_flow",
  "enabled",
  "edited_by",
  "edited_at",
  "email",
] as const;

/** A trigger as its author writes it. `Own` are columns that the service sets. */
export type TriggerInput<Row extends TriggerRow, Own extends keyof Row = never> = Omit<
  Row,
  EditColumns | Own
>;

interface StoreOptions<Row, Own extends keyof Row> {
  /** The name of the kind in rights/item-kinds.ts, whose changes take the same lock. */
  kind: "schedule" | `${string}_trigger`;
  /** The kind in texts, such as `a schedule`. */
  one: string;
  /** Condition for the rows of the kind; default: all of the table. */
  rows?: SQL;
  /** Returns the columns that every change sets. */
  anew: (row: Row, now: Date, before: Row | undefined) => Partial<Pick<Row, Own>>;
  /** Called in the transaction of each change, after it. @param row as stored; undefined: it was deleted */
  stored?: (
    app: App,
    tx: Tx,
    place: Pick<TriggerRow, "workspace_id" | "path">,
    row: Row | undefined,
  ) => Promise<void>;
  /** Called after the commit of any change. */
  changed: (app: App) => void;
}

export interface TriggerFilters {
  /** Path of the script or flow that runs. */
  path?: string | undefined;
  is_flow?: boolean | undefined;
  path_start?: string | undefined;
  page: number;
  per_page: number;
}

/** Runs in the transaction of a change, and throws to reject it. */
type ChangeCheck = (tx: Tx) => Promise<void>;

export class TriggerStore<Row extends TriggerRow, Own extends keyof Row = never> {
  readonly #table: PathTable;
  readonly #kind: StoreOptions<Row, Own>;
  /** The kind before a path, such as `schedule`. */
  readonly what: string;

  constructor(table: TableColumns & { $inferSelect: Row }, kind: StoreOptions<Row, Own>) {
    this.#table = toPathTable(table, ...SHARED_COLUMNS);
    this.#kind = kind;
    this.what = kind.one.slice(kind.one.indexOf(" ") + 1);
  }

  get one(): string {
    return this.#kind.one;
  }

  /** Returns the trigger at a path. @throws NotFound if there is none that the caller may read */
  async get(ctx: WorkspaceContext, path: string, db: Reader = ctx.app.db.read): Promise<Row> {
    const { member } = ctx.caller;
    const row = await this.#find(ctx, db, path);
    if (row && canRead(member, row.path, row.extra_perms)) return row;
    throw new NotFound(`${this.what} ${path} in workspace ${member.workspace_id}`);
  }

  /** Returns a trigger that the caller may change. @throws NotFound, Forbidden */
  async getWritable(ctx: WorkspaceContext, path: string): Promise<Row> {
    const row = await this.get(ctx, path);
    requireWriteAccess(ctx.caller.member, path, row.extra_perms);
    return row;
  }

  /**
   * Returns a trigger that the caller may change, and move if the paths differ.
   * @throws NotFound, Forbidden
   */
  async getMovable(ctx: WorkspaceContext, path: string, to: string): Promise<Row> {
    const row = await this.getWritable(ctx, path);
    if (to === path) return row;
    const { member, identity } = ctx.caller;
    requireScope(identity, { domain: `${this.#kind.kind}s`, action: "write" }, to);
    requireManageAccess(member, path, "move");
    requireWriteAccess(member, to);
    return row;
  }

  async exists(ctx: WorkspaceContext, path: string): Promise<boolean> {
    return (await this.#find(ctx, ctx.app.db.read, path)) !== undefined;
  }

  /** Lists the triggers that the caller may read, last edited first. */
  /** @param wanted filters rows in code, where the database cannot */
  async list(ctx: WorkspaceContext, filters: TriggerFilters, wanted?: (row: Row) => boolean): Promise<Row[]> {
    const { member } = ctx.caller;
    const { path, is_flow, path_start, ...query } = filters;
    const { offset, limit } = toLimitOffset(query);
    const table = this.#table;
    const found = ctx.app.db.read
      .select()
      .from(table)
      .where(
        and(
          eq(table.workspace_id, member.workspace_id),
          this.#kind.rows,
          readableBy(member, table),
          path ? eq(table.script_path, path) : undefined,
          is_flow === undefined ? undefined : eq(table.is_flow, is_flow),
          path_start ? startsWith(table.path, path_start) : undefined,
        ),
      )
      .orderBy(desc(table.edited_at), asc(table.path));
    if (!wanted) return (await found.limit(limit).offset(offset)) as unknown as Row[];
    const rows = (await found) as unknown as Row[];
    return rows.filter(wanted).slice(offset, offset + limit);
  }

  /** Creates a trigger in one transaction. @throws BadRequest if the path is taken, and errors of `check` */
  async insert(
    ctx: WorkspaceContext,
    body: TriggerInput<Row, Own> & { path: string },
    check?: ChangeCheck,
  ): Promise<void> {
    const { path } = body;
    const { workspace_id } = ctx.caller.member;
    await ctx.write({ resource: path }, async (tx) => {
      await this.#lock(ctx, tx, path);
      await this.#refuseTaken(ctx, tx, path);
      await check?.(tx);
      const row = { ...body, workspace_id, extra_perms: {} } as unknown as TriggerRow & Row;
      await tx.insert(this.#table).values({ ...row, ...(await this.#editedNow(ctx, tx, row)) });
      await this.#tellStored(ctx, tx, path);
      tx.afterCommit(() => this.#kind.changed(ctx.app));
    });
  }

  /** Changes a trigger, and its path. @throws as `insert`, NotFound */
  update(ctx: WorkspaceContext, path: string, changes: Partial<Row>, check?: ChangeCheck): Promise<void> {
    const { path: to = path } = changes;
    const parameters: Record<string, string> = to === path ? {} : { new_path: to };
    return this.#change(ctx, { path, changes, parameters }, check);
  }

  /** Enables or disables a trigger. @throws NotFound, Forbidden */
  async setEnabled(ctx: WorkspaceContext, path: string, enabled: boolean): Promise<void> {
    await this.getWritable(ctx, path);
    const changes = { enabled } as Partial<Row>;
    await this.#change(ctx, { path, changes, parameters: { enabled: String(enabled) } });
  }

  /** Deletes a trigger. @throws NotFound, Forbidden */
  async delete(ctx: WorkspaceContext, path: string): Promise<void> {
    await this.getWritable(ctx, path);
    await ctx.write({ resource: path }, async (tx) => {
      await tx.delete(this.#table).where(this.#at(ctx, path));
      await this.#tellStored(ctx, tx, path);
      tx.afterCommit(() => this.#kind.changed(ctx.app));
    });
  }

  async #change(
    ctx: WorkspaceContext,
    what: {
      path: string;
      changes: Partial<Row>;
      parameters: Record<string, string>;
    },
    check?: ChangeCheck,
  ): Promise<void> {
    const { path, changes, parameters } = what;
    const { path: to = path } = changes;
    await ctx.write({ resource: path, parameters }, async (tx) => {
      // Locked in sorted order, so that two triggers that swap paths cannot deadlock.
      for (const place of [...new Set([path, to])].sort()) await this.#lock(ctx, tx, place);
      const before = await this.get(ctx, path, tx);
      const row = { ...before, ...changes };
      if (to !== path) await this.#refuseTaken(ctx, tx, to);
      await check?.(tx);
      await tx
        .update(this.#table)
        .set({ ...changes, ...(await this.#editedNow(ctx, tx, row, before)) })
        .where(this.#at(ctx, path));
      await this.#tellStored(ctx, tx, to);
      tx.afterCommit(() => this.#kind.changed(ctx.app));
    });
  }

  async #tellStored(ctx: WorkspaceContext, tx: Tx, path: string): Promise<void> {
    const { stored } = this.#kind;
    if (!stored) return;
    const place = { workspace_id: ctx.caller.member.workspace_id, path };
    await stored(ctx.app, tx, place, await this.#find(ctx, tx, path));
  }

  async #editedNow(ctx: WorkspaceContext, tx: Tx, row: Row, before?: Row) {
    const now = ctx.app.clock();
    return {
      ...this.#kind.anew(row, now, before),
      edited_by: ctx.username,
      edited_at: now,
      email: await resolveOwnerEmail(ctx, tx),
    };
  }

  #at({ caller }: WorkspaceContext, path: string) {
    const { workspace_id } = caller.member;
    return and(eq(this.#table.workspace_id, workspace_id), eq(this.#table.path, path), this.#kind.rows);
  }

  async #find(ctx: WorkspaceContext, db: Reader, path: string): Promise<Row | undefined> {
    const [row] = await db.select().from(this.#table).where(this.#at(ctx, path));
    return row as unknown as Row | undefined;
  }

  #lock({ caller }: WorkspaceContext, tx: Tx, path: string): Promise<void> {
    return tx.lock(`${this.#kind.kind} ${caller.member.workspace_id} ${path}`);
  }

  async #refuseTaken(ctx: WorkspaceContext, tx: Tx, path: string): Promise<void> {
    if (await this.#find(ctx, tx, path)) {
      throw new BadRequest(`there is ${this.#kind.one} at ${path} already`);
    }
  }
}
