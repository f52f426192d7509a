import { eq } from "drizzle-orm";
import { z } from "zod";
import type { Context } from "../../context.ts";
import { InvalidInput } from "../../errors.ts";
import { checked, readText } from "../../http/input.ts";
import { moment, type Operation, operation, responds } from "../../http/operation.ts";
import { revokeToken } from "../tokens/service.ts";
import { listAllRunnables } from "./runnables.ts";
import * as service from "./service.ts";
import { checkSetupToken, completeSetup, setupPage } from "./setup.ts";
import { users } from "./tables.ts";

const GlobalUserInfo = z.object({
  email: z.string(),
  login_type: z.string(),
  super_admin: z.boolean(),
  devops: z.boolean(),
  verified: z.boolean(),
  name: z.string().nullish(),
  company: z.string().nullish(),
  username: z.string().nullish(),
  first_time_user: z.boolean(),
});

const User = z.object({
  workspace_id: z.string(),
  email: z.string(),
  username: z.string(),
  is_admin: z.boolean(),
  is_super_admin: z.boolean(),
  created_at: moment,
  operator: z.boolean(),
  disabled: z.boolean(),
  groups: z.array(z.string()),
  folders: z.array(z.string()),
  folders_owners: z.array(z.string()),
});

function withSession(
  ctx: Context,
  token: string,
  body: string,
  init: { status?: number; type?: string } = {},
): Response {
  return new Response(body, {
    status: init.status ?? 200,
    headers: {
      "content-type": init.type ?? "text/plain; charset=utf-8",
      "set-cookie": service.sessionCookie(ctx.app, token),
    },
  });
}

/** Where the call came from, as far as the transport tells. */
function addressOf(request: Request): string {
  return (request as { ip?: string }).ip ?? "unknown";
}

export const login = operation({
  name: "login",
  method: "POST",
  path: "/auth/login",
  access: "anyone",
  scope: false,
  summary: "Log in with e-mail and password; the session token is the body and the cookie `token`",
  body: z.object({ email: z.string(), password: z.string() }),
  responds: responds.raw("text/plain", "session token"),
  audit: { operation: "users.login", action_kind: "Create" },
  run: async (ctx, { body }) => {
    const token = await service.login(ctx, body, addressOf(ctx.request));
    return withSession(ctx, token, token);
  },
});

export const logout = operation({
  name: "logout",
  method: "POST",
  path: "/auth/logout",
  access: "anyone",
  scope: false,
  summary: "Delete the presented token and clear the cookie",
  responds: responds.raw("text/plain", "confirmation"),
  audit: { operation: "users.logout", action_kind: "Delete" },
  run: async (ctx) => {
    const hash = ctx.caller.identity?.token?.hash;
    if (hash) await ctx.write({}, (tx) => revokeToken(ctx.app, tx, hash));
    return withSession(ctx, "", "logged out");
  },
});

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
    name: z.string().optional(),
    company: z.string().optional(),
    username: z.string().optional(),
  }),
  responds: responds.created("confirmation"),
  audit: { operation: "users.create", action_kind: "Create" },
  run: async (ctx, { body }) => {
    await service.createUser(ctx, body);
    return `email ${body.email.trim().toLowerCase()} created`;
  },
});

export const whoami = operation({
  name: "globalWhoami",
  method: "GET",
  path: "/users/whoami",
  access: "user",
  bound: true,
  scope: false,
  summary: "Read who the token belongs to",
  responds: responds.json(GlobalUserInfo),
  run: async (ctx) => {
    const { identity } = ctx.caller;
    if (identity.token) return service.getUser(ctx.app, identity.email);
    return {
      email: identity.email,
      login_type: "operator",
      super_admin: true,
      devops: true,
      verified: true,
      first_time_user: false,
    };
  },
});

export const currentEmail = operation({
  name: "getCurrentEmail",
  method: "GET",
  path: "/users/email",
  access: "user",
  bound: true,
  scope: false,
  summary: "Read the caller's e-mail",
  responds: responds.text("e-mail"),
  run: (ctx) => ctx.caller.identity.email,
});

export const existsEmail = operation({
  name: "existsEmail",
  method: "GET",
  path: "/users/exists/{email}",
  access: "user",
  summary: "Say whether a user has this e-mail",
  responds: responds.json(z.boolean()),
  run: async (ctx, { email }) => {
    const rows = await ctx.app.db.read
      .select({ email: users.email })
      .from(users)
      .where(eq(users.email, email.toLowerCase()));
    return rows.length > 0;
  },
});

export const setPassword = operation({
  name: "setPassword",
  method: "POST",
  path: "/users/setpassword",
  access: "user",
  summary: "Change the caller's password; every other session ends",
  body: z.object({ password: z.string() }),
  responds: responds.text("confirmation"),
  audit: { operation: "users.setpassword", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await service.setPassword(ctx, body.password);
    return `password of ${ctx.caller.identity.email} changed`;
  },
});

export const workspaceWhoami = operation({
  name: "whoami",
  method: "GET",
  path: "/w/{workspace}/users/whoami",
  access: "member",
  scope: false,
  summary: "Read the caller's place in the workspace",
  responds: responds.json(User),
  run: (ctx) => {
    const { member, identity } = ctx.caller;
    return {
      ...member,
      is_super_admin: identity.super_admin,
      groups: ["all", ...member.groups],
      folders: [],
      folders_owners: [],
    };
  },
});

const SetupForm = z.object({ email: z.string(), password: z.string() });

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

export const getSetup = operation({
  name: "getSetupPage",
  method: "GET",
  path: "/setup/{token}",
  access: "anyone",
  scope: false,
  summary: "Show the page that makes the first super admin",
  responds: responds.raw("text/html", "a form"),
  run: (ctx, { token }) => {
    checkSetupToken(ctx.app, token);
    return new Response(setupPage(`/api/setup/${token}`), { headers: PAGE_HEADERS });
  },
});

export const postSetup = operation({
  name: "completeSetup",
  method: "POST",
  path: "/setup/{token}",
  access: "anyone",
  scope: false,
  summary: "Make the first super admin; the link is then dead",
  responds: responds.raw("text/plain", "session token, also as cookie"),
  audit: { operation: "users.create", action_kind: "Create" },
  run: async (ctx, { token }) => {
    const session = await completeSetup(ctx, token, await readForm(ctx.request));
    return withSession(ctx, session, session, { status: 201 });
  },
});

/** A browser's form or a program's JSON. */
async function readForm(request: Request): Promise<z.output<typeof SetupForm>> {
  const text = await readText(request, 10_000);
  if (request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded")) {
    return checked("body", SetupForm, Object.fromEntries(new URLSearchParams(text))) as z.output<
      typeof SetupForm
    >;
  }
  try {
    return checked("body", SetupForm, JSON.parse(text)) as z.output<typeof SetupForm>;
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new InvalidInput(`the body is not JSON: ${cause.message}`);
    throw cause;
  }
}

export const userOperations: Operation[] = [
  login,
  logout,
  createUser,
  whoami,
  currentEmail,
  existsEmail,
  setPassword,
  workspaceWhoami,
  getSetup,
  postSetup,
  listAllRunnables,
];
