/** Who asked for an operation, and in whose name it is finished after their call is over. */
import type { App, Context } from "../../../platform/app/context.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { recordChange } from "../../signals/webhooks/outbox.ts";

export interface Asker {
  username: string;
  email: string;
}

/** What of a context canceling needs, in the name of somebody whose call may be over. */
export function actorIn(
  app: App,
  workspace_id: string,
  { username, email }: Asker,
): Pick<Context, "app" | "username" | "write"> {
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
          await recordChange(app, tx, row);
        }
        return value;
      }, audited),
  };
}
