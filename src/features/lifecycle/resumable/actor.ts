/** Who asked for an operation, and in whose name it is finished after their call is over. */
import type { App } from "../../../platform/app/context.ts";
import type { CancelContext } from "../../../platform/app/lifecycle.ts";
import { recordAudit } from "../../signals/audit/service.ts";

export interface Asker {
  username: string;
  email: string;
}

/** What of a context canceling needs, in the name of somebody whose call may be over. */
export function actorIn(app: App, workspace_id: string, { username, email }: Asker): CancelContext {
  return {
    app,
    username,
    write: (audited, work) =>
      app.db.write(async (tx) => {
        const value = await work(tx);
        if (audited.as) {
          const { as: audit, resource, parameters } = audited;
          const who = { timestamp: app.clock(), workspace_id, username, email };
          const row = { ...who, audit, resource, parameters };
          await recordAudit(tx, row);
          for (const { on } of app.features) await on?.changeAudited?.(app, tx, row);
        }
        return value;
      }, audited),
  };
}
