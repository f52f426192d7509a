/** What happens to people on the whole instance, told where the setting `instance_events_webhook` says. */

import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { currentLicense, stateOf } from "../../tenancy/license/service.ts";
import { INSTANCE } from "./event-types.ts";
import { recordEvent } from "./outbox.ts";

export type InstanceEvent =
  | { type: "UserAdded" | "UserSignupOAuth"; email: string }
  | { type: "UserAddedWorkspace" | "UserInvitedWorkspace"; workspace: string; email: string }
  | { type: "UserJoinedWorkspace"; workspace: string; email: string; username: string };

/** Stores an event in the transaction of what it tells of. Without a licence that holds nobody is told. */
export async function recordInstanceEvent(app: App, tx: Tx, event: InstanceEvent): Promise<void> {
  const { license } = await currentLicense(app);
  if (!license || stateOf(license, app.clock()) === "over") return;
  const { type, ...keys } = event;
  await recordEvent(app, tx, INSTANCE, { type, keys });
}
