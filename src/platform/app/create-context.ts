/** The one constructor of contexts: calls, triggers and jobs write their changes and audit rows the same way. */
import type { Tx } from "../../database/database.ts";
import { type Awaitable, continueWith } from "../../lib/async/awaitable.ts";
import { memoizePerApp } from "../../lib/async/per-app.ts";
import type { App, AuditedAction, Caller, Context } from "./context.ts";

/** A row of the audit log. */
export interface AuditRow {
  timestamp: Date;
  workspace_id: string;
  username: string;
  email: string;
  audit: AuditedAction;
  resource: string | undefined;
  parameters: Record<string, string> | undefined;
}

export type RecordAudit = (tx: Tx, row: AuditRow) => Awaitable<unknown>;

interface ContextOptions<C extends Caller> {
  app: App;
  caller: C;
  /** Name in audit rows, `created_by` and similar columns. */
  username: string;
  /** Left out for work that no request started. */
  request?: Request;
  request_id?: string | undefined;
  /** Workspace of the audit rows; undefined: they belong to the instance. */
  workspace_id: string | undefined;
  /** Action of audit rows whose details name none; undefined: no row is written for those. */
  action: AuditedAction | undefined;
  /**
   * Inserts an audit row and notifies features that declare `on.changeAudited`; omitted: writes leave no audit rows.
   */
  recordAudit?: RecordAudit;
  /** Called in each write's transaction, before its work. @throws to abort the write */
  guard?: (tx: Tx) => Awaitable<void>;
}

const changeListeners = memoizePerApp((app: App) =>
  app.features.flatMap(({ on }) => on?.changeAudited ?? []),
);

export function createContext<C extends Caller>(
  options: ContextOptions<C>,
): Context & { readonly caller: C } {
  const { app, caller, username, workspace_id, recordAudit, guard } = options;
  const audit: Context["audit"] = (tx, { action = options.action, actor_email, resource, parameters }) => {
    if (!action || !recordAudit) return undefined;
    const row: AuditRow = {
      timestamp: app.clock(),
      workspace_id: workspace_id ?? "global",
      username: actor_email ?? username,
      email: actor_email ?? caller.identity?.email ?? "",
      audit: action,
      resource,
      parameters,
    };
    let done: Awaitable<unknown> = recordAudit(tx, row);
    for (const note of changeListeners(app)) done = continueWith(done, () => note(app, tx, row));
    return done;
  };
  return {
    app,
    caller,
    username,
    request: options.request ?? new Request("http://localhost/"),
    request_id: options.request_id,
    audit,
    write: (audited, work) =>
      app.db.write((tx) => {
        const writeAll = () =>
          continueWith(work(tx), (value) => continueWith(audit(tx, audited), () => value));
        return guard ? continueWith(guard(tx), writeAll) : writeAll();
      }, audited),
  };
}
