/** Events about users of the instance, sent to the URL in the setting `instance_events_webhook`. */

import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { computeLicenseState, readCurrentLicense } from "../../tenancy/license/service.ts";
import { INSTANCE_WORKSPACE } from "./event-types.ts";
import { recordEvent } from "./outbox.ts";

export type InstanceEvent =
  | { type: "UserAdded" | "UserSignupOAuth"; email: string }
  | { type: "UserAddedWorkspace" | "UserInvitedWorkspace"; workspace: string; email: string }
  | { type: "UserJoinedWorkspace"; workspace: string; email: string; username: string };

/** Stores an event in the transaction of its change. Without a valid license no event is stored. */
export async function recordInstanceEvent(app: App, tx: Tx, event: InstanceEvent): Promise<void> {
  const { license } = await readCurrentLicense(app);
  if (!license || computeLicenseState(license, app.clock()) === "over") return;
  const { type, ...keys } = event;
  await recordEvent(app, tx, INSTANCE_WORKSPACE, { type, keys });
}
