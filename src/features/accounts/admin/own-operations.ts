/** Operations of users on their own account. */
import { isLocalAdminEmail } from "../../../lib/text/paths.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { hasLicense } from "../../tenancy/license/service.ts";
import { requireNoTriggerToken } from "../../tenancy/tokens/scopes.ts";
import { getMonthlyUsage } from "../../tenancy/workspaces/usage.ts";
import { acceptInvite, declineInvite, listInvites } from "../members/invites.ts";
import { GlobalUserInfo, WorkspaceInvite } from "../members/records.ts";
import { createTextResponse } from "../sessions/cookie-response.ts";
import { createSessionCookies } from "../sessions/cookies.ts";
import { requireUnrestrictedToken } from "../sessions/sessions.ts";
import * as service from "../users/service.ts";
import * as accounts from "./accounts.ts";

export const globalWhoami = operation({
  name: "globalWhoami",
  method: "GET",
  path: "/users/whoami",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: false,
  summary: "Read the user of the token",
  responds: responds.json(GlobalUserInfo),
  run: async (ctx) => {
    const { identity } = ctx.caller;
    requireNoTriggerToken(identity);
    if (identity.token || !isLocalAdminEmail(identity.email))
      return service.getUser(ctx.app.db.read, identity.email);
    return {
      email: identity.email,
      login_type: "local",
      super_admin: true,
      devops: true,
      verified: true,
      first_time_user: false,
    };
  },
});

export const getCurrentEmail = operation({
  name: "getCurrentEmail",
  method: "GET",
  path: "/users/email",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: false,
  summary: "Read the caller's e-mail",
  responds: responds.text("e-mail"),
  run: ({ caller: { identity } }) => {
    requireNoTriggerToken(identity);
    return identity.email;
  },
});

export const setPassword = operation({
  name: "setPassword",
  method: "POST",
  path: "/users/setpassword",
  access: "user",
  summary: "Change the caller's password; all sessions end, and the cookie `token` is set to a new one",
  body: z.object({ password: z.string() }),
  responds: responds.raw("text/plain", "confirmation"),
  audit: { operation: "users.setpassword", action_kind: "Update" },
  run: async (ctx, { body }) => {
    const { email } = requireUnrestrictedToken(ctx, "changes no password");
    const session = await accounts.changePassword(ctx, email, body.password);
    return createTextResponse(
      `password of ${email} changed`,
      session ? createSessionCookies(ctx.app, ctx.request, session) : [],
    );
  },
});

export const leaveInstance = operation({
  name: "leaveInstance",
  method: "POST",
  path: "/users/leave_instance",
  access: "user",
  summary: "Delete the caller's own account, with the same effects as deletion by a super admin",
  responds: responds.text("confirmation"),
  audit: { operation: "workspaces.leave", action_kind: "Delete" },
  run: async (ctx) => {
    const { email } = requireUnrestrictedToken(ctx, "deletes no account");
    await accounts.deleteAccount(ctx, email);
    return `${email} left the instance`;
  },
});

const TutorialProgress = z.object({ progress: z.int().min(0) });

export const getTutorialProgress = operation({
  name: "getTutorialProgress",
  method: "GET",
  path: "/users/tutorial_progress",
  access: "user",
  summary: "Read the completed tutorial steps of the caller, as a bitmask",
  responds: responds.json(TutorialProgress),
  run: async (ctx) => ({ progress: await accounts.getTutorialProgress(ctx.app, ctx.caller.identity.email) }),
});

export const setTutorialProgress = operation({
  name: "updateTutorialProgress",
  method: "POST",
  path: "/users/tutorial_progress",
  access: "user",
  summary: "Set the completed tutorial steps of the caller, as a bitmask",
  body: TutorialProgress,
  responds: responds.text("confirmation"),
  audit: { operation: "users.tutorial_progress", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await accounts.setTutorialProgress(ctx, body.progress);
    return "tutorial progress updated";
  },
});

export const getOwnUsage = operation({
  name: "getUsage",
  method: "GET",
  path: "/users/usage",
  access: "user",
  summary:
    "Read this month's executions of the caller outside premium workspaces: one for every started second",
  responds: responds.json(z.number()),
  // With a license, all workspaces are premium.
  run: async ({ app, caller }) =>
    (await hasLicense(app)) ? 0 : getMonthlyUsage(app, { email: caller.identity.email }),
});

export const listOwnInvites = operation({
  name: "listWorkspaceInvites",
  method: "GET",
  path: "/users/list_invites",
  access: "user",
  summary: "List the workspaces the caller is invited to",
  responds: responds.json(z.array(WorkspaceInvite)),
  run: (ctx) => listInvites(ctx.app, ctx.caller.identity.email),
});

export const acceptOwnInvite = operation({
  name: "acceptInvite",
  method: "POST",
  path: "/users/accept_invite",
  access: "user",
  summary: "Accept an invite to a workspace",
  body: z.object({ workspace_id: z.string(), username: optionalField(z.string()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "users.accept_invite", action_kind: "Create" },
  run: async (ctx, { body }) => {
    const username = await acceptInvite(ctx, body);
    return `member of workspace ${body.workspace_id} as ${username}`;
  },
});

export const declineOwnInvite = operation({
  name: "declineInvite",
  method: "POST",
  path: "/users/decline_invite",
  access: "user",
  summary: "Decline an invite",
  body: z.object({ workspace_id: z.string() }),
  responds: responds.text("confirmation"),
  audit: { operation: "users.decline_invite", action_kind: "Delete" },
  run: async (ctx, { body }) => {
    await declineInvite(ctx, body.workspace_id);
    return `invite to workspace ${body.workspace_id} declined`;
  },
});

export const ownOperations: Operation[] = [
  globalWhoami,
  getCurrentEmail,
  setPassword,
  leaveInstance,
  getTutorialProgress,
  setTutorialProgress,
  getOwnUsage,
  listOwnInvites,
  acceptOwnInvite,
  declineOwnInvite,
];
