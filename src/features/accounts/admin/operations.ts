/** Operations on accounts of the instance, for super admins. */
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  queryInteger,
  responds,
} from "../../../platform/http/operation.ts";
import { GlobalUserInfo, UsernameInfo } from "../members/records.ts";
import { createTextResponse } from "../sessions/cookie-response.ts";
import { createSessionCookies } from "../sessions/cookies.ts";
import { requireUnrestricted } from "../sessions/sessions.ts";
import * as service from "../users/service.ts";
import * as accounts from "./accounts.ts";
import { mailInitialPassword } from "./initial-password.ts";

const NO_ADMIN_RIGHTS = "makes nobody super admin or devops";

export const createUser = operation({
  name: "createUser",
  method: "POST",
  path: "/users/create",
  access: "superAdmin",
  summary: "Create a user who logs in with a password",
  body: z.object({
    email: z.string(),
    password: z.string(),
    super_admin: z.boolean(),
    name: optionalField(z.string()),
    company: optionalField(z.string()),
    username: optionalField(z.string()),
  }),
  responds: responds.created("confirmation"),
  audit: { operation: "users.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    if (body.super_admin) requireUnrestricted(ctx, NO_ADMIN_RIGHTS);
    await service.createUser(ctx, body);
    mailInitialPassword(ctx.app, body);
    return `email ${body.email.trim().toLowerCase()} created`;
  },
});

export const existsEmail = operation({
  name: "existsEmail",
  method: "GET",
  path: "/users/exists/{email}",
  access: "user",
  summary: "Check whether a user has this e-mail, among those that the caller may know about",
  responds: responds.json(z.boolean()),
  run: (ctx, { email }) => service.isKnownUser(ctx, email.toLowerCase()),
});

export const listAccounts = operation({
  name: "listUsersAsSuperAdmin",
  method: "GET",
  path: "/users/list_as_super_admin",
  access: "superAdmin",
  summary: "List the users of the instance by e-mail",
  query: z.object({
    ...pagingFields,
    per_page: queryInteger.min(1).max(10_000).default(10_000),
    active_only: queryBoolean.default(false),
  }),
  responds: responds.json(z.array(GlobalUserInfo)),
  run: (ctx, { query }) => accounts.listAccounts(ctx.app, query),
});

export const updateAccount = operation({
  name: "globalUserUpdate",
  method: "POST",
  path: "/users/update/{email}",
  access: "superAdmin",
  summary: "Update a user's name or role on the instance",
  body: z.object({
    is_super_admin: optionalField(z.boolean()),
    is_devops: optionalField(z.boolean()),
    name: optionalField(z.string()),
  }),
  responds: responds.text("confirmation"),
  audit: { operation: "users.update", action_kind: "Update" },
  run: async (ctx, { email, body }) => {
    if (body.is_super_admin || body.is_devops) requireUnrestricted(ctx, NO_ADMIN_RIGHTS);
    await accounts.updateAccount(ctx, email, body);
    return `user ${email} updated`;
  },
});

export const setPasswordOf = operation({
  name: "setPasswordForUser",
  method: "POST",
  path: "/users/set_password_of/{user}",
  access: "superAdmin",
  summary: "Set the password of a user, given by e-mail; all their sessions end",
  body: z.object({ password: z.string() }),
  responds: responds.raw("text/plain", "confirmation"),
  audit: { operation: "users.setpassword", action_kind: "Update" },
  run: async (ctx, { user, body }) => {
    requireUnrestricted(ctx, "changes no password");
    const session = await accounts.changePassword(ctx, user, body.password);
    return createTextResponse(
      `password of ${user} changed`,
      session ? createSessionCookies(ctx.app, ctx.request, session) : [],
    );
  },
});

export const setLoginType = operation({
  name: "setLoginTypeForUser",
  method: "POST",
  path: "/users/set_login_type/{user}",
  access: "superAdmin",
  summary: "Set how a user, given by e-mail, logs in: by password or a provider; all their sessions end",
  body: z.object({ login_type: z.string() }),
  responds: responds.raw("text/plain", "confirmation"),
  audit: { operation: "users.update", action_kind: "Update" },
  run: async (ctx, { user, body }) => {
    const session = await accounts.setLoginType(ctx, user, body.login_type);
    const said = `login type of ${user} is ${body.login_type}`;
    return createTextResponse(said, session ? createSessionCookies(ctx.app, ctx.request, session) : []);
  },
});

export const getUsernameInfo = operation({
  name: "globalUsernameInfo",
  method: "GET",
  path: "/users/username_info/{email}",
  access: "superAdmin",
  summary: "Read a user's username on the instance and in each workspace",
  responds: responds.json(UsernameInfo),
  run: (ctx, { email }) => accounts.getUsernameInfo(ctx.app, email),
});

export const deleteAccount = operation({
  name: "globalUserDelete",
  method: "DELETE",
  path: "/users/delete/{email}",
  access: "superAdmin",
  summary: "Delete a user: their runs are canceled, and their items are left to the workspaces' admins",
  responds: responds.text("confirmation"),
  audit: { operation: "users.delete", action_kind: "Delete" },
  run: async (ctx, { email }) => {
    await accounts.deleteAccount(ctx, email);
    return `user ${email} deleted`;
  },
});

export const userOperations: Operation[] = [
  createUser,
  existsEmail,
  listAccounts,
  updateAccount,
  setPasswordOf,
  setLoginType,
  getUsernameInfo,
  deleteAccount,
];
