/**
 * Schedules, HTTP routes and WebSocket triggers as they are stored: each stands at a path, names a script or flow, and
 * is switched on or off. Runs act as whoever edited it last: what others set up must not run with the rights of somebody
 * who never saw it.
 */
import { and, asc, desc, eq } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { type PathTable, pathTable } from "../../../database/path-table.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { canRead, readableBy, requireWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { toWindow } from "../../../platform/http/operation.ts";
import { personBehind } from "./person.ts";

/** The columns of every kind of trigger: no others are touched here. */
interface TriggerRow {
  workspace_id: string;
  path: string;
  /** The script or flow that runs. */
  script_path: string;
  is_flow: boolean;
  enabled: boolean;
  edited_by: string;
  edited_at: Date;
  /** Of whoever edited it last: its runs act as that person. */
  email: string;
  /** Who else may read or change it. */
  extra_perms: Record<string, boolean>;
}

/** What the service settles of every trigger. */
type Settled = "workspace_id" | "edited_by" | "edited_at" | "email" | "extra_perms";
type Columns = Parameters<typeof pathTable<(typeof TOUCHED)[number]>>[0];
const TOUCHED = [
  "extra_perms",
  "script_path",
  "is_flow",
  "enabled",
  "edited_by",
  "edited_at",
  "email",
] as const;

/** What its author says of a trigger; `Own` are columns that the service settles. */
export type Written<Row extends TriggerRow, Own extends keyof Row = never> = Omit<Row, Settled | Own>;

interface Kind<Row, Own extends keyof Row> {
  /** As acls/kinds.ts names it, whose changes hold the same lock. */
  kind: "schedule" | "http_trigger" | "websocket_trigger";
  /** As it is called, such as `a schedule`. */
  one: string;
  /** What each change sets anew. */
  anew: (row: Row, now: Date, before: Row | undefined) => Partial<Pick<Row, Own>>;
  /** Called after the commit of any change. */
  changed: (app: App) => void;
}

export interface TriggerFilters {
  /** Of the script or flow that runs. */
  path?: string | undefined;
  is_flow?: boolean | undefined;
  path_start?: string | undefined;
  page: number;
  per_page: number;
}

/** Asked in the transaction of a change; throws when it must not be. */
type Check = (tx: Tx) => Promise<void>;

export class TriggerStore<Row extends TriggerRow, Own extends keyof Row = never> {
  readonly #table: PathTable;
  readonly #kind: Kind<Row, Own>;
  /** As it is called with a path behind it, such as `schedule`. */
  readonly what: string;

  constructor(table: Columns & { $inferSelect: Row }, kind: Kind<Row, Own>) {
    this.#table = pathTable(table, ...TOUCHED);
    this.#kind = kind;
    this.what = kind.one.slice(kind.one.indexOf(" ") + 1);
  }

  get one(): string {
    return this.#kind.one;
  }

  /** @throws NotFound when there is none, or none that the caller may read */
  async get(ctx: WorkspaceContext, path: string, db: Reader = ctx.app.db.read): Promise<Row> {
    const { member } = ctx.caller;
    const row = await this.#find(ctx, db, path);
    if (row && canRead(member, row.path, row.extra_perms)) return row;
    throw new NotFound(`${this.what} ${path} in workspace ${member.workspace_id}`);
  }

  /** The same, when the caller may also change it. @throws NotFound, Forbidden */
  async getWritable(ctx: WorkspaceContext, path: string): Promise<Row> {
    const row = await this.get(ctx, path);
    requireWrite(ctx.caller.member, path, row.extra_perms);
    return row;
  }

  async exists(ctx: WorkspaceContext, path: string): Promise<boolean> {
    return (await this.#find(ctx, ctx.app.db.read, path)) !== undefined;
  }

  /** What the caller may read, last edited first. */
  /** @param wanted looks at each row itself, where the database cannot */
  async list(ctx: WorkspaceContext, filters: TriggerFilters, wanted?: (row: Row) => boolean): Promise<Row[]> {
    const { member } = ctx.caller;
    const { path, is_flow, path_start, ...query } = filters;
    const { offset, limit } = toWindow(query);
    const table = this.#table;
    const found = ctx.app.db.read
      .select()
      .from(table)
      .where(
        and(
          eq(table.workspace_id, member.workspace_id),
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

  /** @throws BadRequest when there is one at the path already, and what `check` throws */
  async insert(
    ctx: WorkspaceContext,
    body: Written<Row, Own> & { path: string },
    check?: Check,
  ): Promise<void> {
    const { path } = body;
    const { workspace_id } = ctx.caller.member;
    await ctx.write({ resource: path }, async (tx) => {
      await this.#lock(ctx, tx, path);
      await this.#refuseTaken(ctx, tx, path);
      await check?.(tx);
      const row = { ...body, workspace_id, extra_perms: {} } as unknown as TriggerRow & Row;
      await tx.insert(this.#table).values({ ...row, ...(await this.#editedNow(ctx, tx, row)) });
      tx.afterCommit(() => this.#kind.changed(ctx.app));
    });
  }

  /** Changes one that the caller may write to, and where it stands. @throws as `insert`, NotFound */
  update(ctx: WorkspaceContext, path: string, changes: Partial<Row>, check?: Check): Promise<void> {
    const { path: to = path } = changes;
    const parameters: Record<string, string> = to === path ? {} : { new_path: to };
    return this.#change(ctx, { path, changes, parameters }, check);
  }

  /** @throws NotFound, Forbidden */
  async setEnabled(ctx: WorkspaceContext, path: string, enabled: boolean): Promise<void> {
    await this.getWritable(ctx, path);
    const changes = { enabled } as Partial<Row>;
    await this.#change(ctx, { path, changes, parameters: { enabled: String(enabled) } });
  }

  /** @throws NotFound, Forbidden */
  async delete(ctx: WorkspaceContext, path: string): Promise<void> {
    await this.getWritable(ctx, path);
    await ctx.write({ resource: path }, async (tx) => {
      await tx.delete(this.#table).where(this.#at(ctx, path));
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
    check?: Check,
  ): Promise<void> {
    const { path, changes, parameters } = what;
    const { path: to = path } = changes;
    await ctx.write({ resource: path, parameters }, async (tx) => {
      // Always in the same order: two that change places would wait for each other.
      for (const place of [...new Set([path, to])].sort()) await this.#lock(ctx, tx, place);
      const before = await this.get(ctx, path, tx);
      const row = { ...before, ...changes };
      if (to !== path) await this.#refuseTaken(ctx, tx, to);
      await check?.(tx);
      await tx
        .update(this.#table)
        .set({ ...changes, ...(await this.#editedNow(ctx, tx, row, before)) })
        .where(this.#at(ctx, path));
      tx.afterCommit(() => this.#kind.changed(ctx.app));
    });
  }

  async #editedNow(ctx: WorkspaceContext, tx: Tx, row: Row, before?: Row) {
    const now = ctx.app.clock();
    return {
      ...this.#kind.anew(row, now, before),
      edited_by: ctx.username,
      edited_at: now,
      email: await personBehind(ctx, tx),
    };
  }

  #at({ caller }: WorkspaceContext, path: string) {
    return and(eq(this.#table.workspace_id, caller.member.workspace_id), eq(this.#table.path, path));
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
