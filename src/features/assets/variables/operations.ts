import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
} from "../../../platform/http/operation.ts";
import { keepUnknownFields } from "../../tenancy/rights/unknown-fields.ts";
import { encryptSecret, SECRET_READ_AUDIT } from "../../tenancy/workspaces/secrets.ts";
import { accountFieldSchemas, readAccountStatus } from "../connections/accounts.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/variables" as const;

const CreateVariable = keepUnknownFields(
  z.object({
    path: z.string(),
    value: z.string(),
    is_secret: z.boolean(),
    description: z.string().default(""),
    account: optionalField(z.number().int()),
    is_oauth: optionalField(z.boolean()),
    expires_at: optionalField(isoTimestamp),
  }),
);

const EditVariable = keepUnknownFields(
  z.object({
    path: optionalField(z.string()),
    value: optionalField(z.string()),
    is_secret: optionalField(z.boolean()),
    description: optionalField(z.string()),
  }),
  ["account", "is_oauth", "expires_at"],
);

const ListableVariable = z
  .object({
    workspace_id: z.string(),
    path: z.string(),
    value: z.string().nullish(),
    is_secret: z.boolean(),
    description: z.string(),
    account: z.number().nullish(),
    is_oauth: z.boolean(),
    ...accountFieldSchemas,
    expires_at: isoTimestamp.nullish(),
    extra_perms: z.record(z.string(), z.boolean()),
    /** True if a resource has the same path. */
    is_linked: z.boolean(),
    /** True for the token of an account, which is refreshed automatically. */
    is_refreshed: z.boolean(),
    is_expired: z.boolean(),
  })
  .meta({ id: "ListableVariable" });

const EncryptedQuery = z.object({ already_encrypted: queryBoolean.default(false) });

/** Converts variables to records, with the status of their accounts. */
async function toVariableRecords(
  ctx: WorkspaceContext,
  rows: service.ShownVariable[],
  shown: (row: service.ShownVariable) => string | null,
) {
  const { workspace_id } = ctx.caller.member;
  const ids = rows.map(({ account }) => account);
  const facts = await readAccountStatus(ctx.app, workspace_id, ids);
  return rows.map((variable) => {
    const { linked, extra, ...row } = variable;
    const known = facts.get(row.account ?? 0);
    return {
      ...extra,
      ...row,
      is_linked: linked,
      is_refreshed: false,
      is_expired: false,
      ...known,
      value: shown(variable),
    };
  });
}

async function toVariableRecord(ctx: WorkspaceContext, row: service.ShownVariable, value: string | null) {
  const [record] = await toVariableRecords(ctx, [row], () => value);
  return record!;
}

export const createVariable = operation({
  name: "createVariable",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Create a variable or a secret",
  query: EncryptedQuery,
  body: CreateVariable,
  responds: responds.created("confirmation"),
  audit: { operation: "variables.create", action_kind: "Create" },
  run: async (ctx, { body, query }) => `variable ${await service.createVariable(ctx, body, query)} created`,
});

export const encryptValue = operation({
  name: "encryptValue",
  method: "POST",
  path: `${base}/encrypt`,
  access: "author",
  summary: "Encrypt a value with the workspace's key",
  body: z.string(),
  responds: responds.text("the encrypted value"),
  run: (ctx, { body, workspace }) => encryptSecret(ctx.app, ctx.app.db.read, workspace, body),
});

export const updateVariable = operation({
  name: "updateVariable",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update or rename a variable",
  query: EncryptedQuery,
  body: EditVariable,
  responds: responds.text("confirmation"),
  audit: { operation: "variables.update", action_kind: "Update" },
  run: async (ctx, { path, body, query }) =>
    `variable ${await service.updateVariable(ctx, path, body, query)} updated`,
});

export const deleteVariable = operation({
  name: "deleteVariable",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete a variable",
  responds: responds.text("confirmation"),
  audit: { operation: "variables.delete", action_kind: "Delete" },
  run: async (ctx, { path }) => {
    await service.deleteVariable(ctx, path);
    return `variable ${path} deleted`;
  },
});

export const getVariable = operation({
  name: "getVariable",
  method: "GET",
  path: `${base}/get/{path}`,
  access: "member",
  summary: "Read a variable; a secret is decrypted unless `decrypt_secret=false`",
  query: z.object({
    decrypt_secret: queryBoolean.default(true),
    include_encrypted: queryBoolean.default(false),
  }),
  responds: responds.json(ListableVariable),
  audit: SECRET_READ_AUDIT,
  run: async (ctx, { path, query }) => {
    const row = await service.getShownVariable(ctx, path);
    if (!row.is_secret || query.decrypt_secret) {
      const value = await service.readVariableValue(ctx, row);
      return toVariableRecord(ctx, row, value);
    }
    return toVariableRecord(ctx, row, query.include_encrypted ? row.value : null);
  },
});

export const getVariableValue = operation({
  name: "getVariableValue",
  method: "GET",
  path: `${base}/get_value/{path}`,
  access: "member",
  summary: "Read the plain value of a variable",
  responds: responds.json(z.string()),
  audit: SECRET_READ_AUDIT,
  run: async (ctx, { path }) => service.readVariableValue(ctx, await service.getVariable(ctx, path)),
});

export const existsVariable = operation({
  name: "existsVariable",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Check whether a variable exists at a path",
  responds: responds.json(z.boolean()),
  run: (ctx, { path }) => service.hasVariable(ctx, path),
});

export const listVariables = operation({
  name: "listVariables",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List the variables the caller may read; values of secrets stay hidden",
  query: z.object({ ...pagingFields, path_start: z.string().optional() }),
  responds: responds.json(z.array(ListableVariable)),
  run: async (ctx, { query }) => {
    const rows = await service.listVariables(ctx, query);
    return toVariableRecords(ctx, rows, (row) => (row.is_secret ? null : row.value));
  },
});

export const variableOperations: Operation[] = [
  createVariable,
  encryptValue,
  updateVariable,
  deleteVariable,
  getVariable,
  getVariableValue,
  existsVariable,
  listVariables,
];
