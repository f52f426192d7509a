import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import { TruncatedToken } from "../../tenancy/tokens/records.ts";
import * as own from "../../tenancy/tokens/user-tokens.ts";

const NewToken = z.object({
  label: optionalField(z.string()),
  expiration: optionalField(isoTimestamp),
  scopes: optionalField(z.array(z.string())),
  workspace_id: optionalField(z.string()),
});

export const createToken = operation({
  name: "createToken",
  method: "POST",
  path: "/users/tokens/create",
  access: "user",
  allowsWorkspaceTokens: true,
  scope: { domain: "users", action: "write" },
  summary: "Create a token for the caller; its value is shown once",
  body: NewToken,
  responds: responds.created("the token"),
  audit: { operation: "users.token.create", action_kind: "Create" },
  run: (ctx, { body }) => own.createToken(ctx, body),
});

export const createTokenFor = operation({
  name: "createTokenImpersonate",
  method: "POST",
  path: "/users/tokens/impersonate",
  access: "superAdmin",
  scope: { domain: "users", action: "write" },
  summary: "Create a token for another user",
  body: NewToken.extend({ impersonate_email: z.string() }),
  responds: responds.created("the token"),
  audit: { operation: "users.impersonate", action_kind: "Create" },
  run: (ctx, { body }) => own.createTokenFor(ctx, body),
});

/** Owner of the tokens; default: the caller. */
const owner = { email: z.string().optional() };

export const listTokens = operation({
  name: "listTokens",
  method: "GET",
  path: "/users/tokens/list",
  access: "user",
  summary: "List the tokens of the caller, or of another user (super admins), newest first",
  query: z.object({ ...pagingFields, ...owner, exclude_ephemeral: queryBoolean.default(false) }),
  responds: responds.json(z.array(TruncatedToken)),
  run: (ctx, { query }) => own.listTokens(ctx, query),
});

export const deleteToken = operation({
  name: "deleteToken",
  method: "DELETE",
  path: "/users/tokens/delete/{token_prefix}",
  access: "user",
  summary: "Delete the tokens that begin with a prefix, of the caller or of another user (super admins)",
  query: z.object(owner),
  responds: responds.text("how many were deleted"),
  audit: { operation: "users.token.delete", action_kind: "Delete" },
  run: async (ctx, { token_prefix, query }) =>
    `deleted ${await own.deleteTokens(ctx, token_prefix, query.email)} tokens`,
});

export const tokenOperations: Operation[] = [createToken, createTokenFor, listTokens, deleteToken];
