/**
 * The user who requested a resumable operation. It is recorded, so that the operation can complete in their name
 * after the call.
 */
import type { App } from "../../../platform/app/context.ts";
import { createContext } from "../../../platform/app/create-context.ts";
import type { CancelContext } from "../../../platform/app/lifecycle.ts";
import { recordAudit } from "./service.ts";

export interface Requester {
  username: string;
  email: string;
}

/** Creates the part of a context that job cancellation needs, in the name of the requesting user. */
export function createActorContext(
  app: App,
  workspace_id: string,
  { username, email }: Requester,
): CancelContext {
  const identity = { email, super_admin: false, devops: false, token: undefined };
  const caller = { identity, member: undefined };
  return createContext({ app, caller, username, workspace_id, action: undefined, recordAudit });
}
