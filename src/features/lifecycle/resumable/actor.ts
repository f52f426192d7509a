/** The person who requested a resumable operation, recorded so that it can complete in their name after the call. */
import type { App } from "../../../platform/app/context.ts";
import type { CancelContext } from "../../../platform/app/lifecycle.ts";
import { recordAudit } from "../../signals/audit/service.ts";

export interface Requester {
  username: string;
  email: string;
}

/** Creates the part of a context that canceling jobs needs, in the name of the requester. */
export function createActorContext(
  app: App,
  workspace_id: string,
  { username, email }: Requester,
): CancelContext {
  return {
    app,
    username,
    write: (audited, work) =>
      app.db.write(async (tx) => {
        const value = await work(tx);
        if (audited.action) {
          const { action: audit, resource, parameters } = audited;
          const who = { timestamp: app.clock(), workspace_id, username, email };
          const row = { ...who, audit, resource, parameters };
          await recordAudit(tx, row);
          for (const { on } of app.features) await on?.changeAudited?.(app, tx, row);
        }
        return value;
      }, audited),
  };
}
