import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { Access, explainAccess } from "./explain.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/acls" as const;

const getAcls = operation({
  name: "getGranularAcls",
  method: "GET",
  path: `${base}/get/{kind}/{path}`,
  access: "member",
  summary: "Read the grants of an item, a folder (`folder`) or a group (`group_`)",
  responds: responds.json(z.record(z.string(), z.boolean()), "true to write, false to read, by name"),
  run: (ctx, { kind, path }) => service.getAcl(ctx, kind, path),
});

const explainAcls = operation({
  name: "explainAccess",
  method: "GET",
  path: `${base}/explain/{kind}/{path}`,
  access: "member",
  summary: "List the members who may read or change an item, and why",
  responds: responds.json(z.array(Access)),
  run: (ctx, { kind, path }) => explainAccess(ctx, kind, path),
});

export const addAcl = operation({
  name: "addGranularAcls",
  method: "POST",
  path: `${base}/add/{kind}/{path}`,
  access: "author",
  summary: "Grant read access or, with `write`, write access",
  body: z.object({ owner: z.string(), write: optionalField(z.boolean()) }),
  responds: responds.text("confirmation"),
  audit: { operation: "acls.add", action_kind: "Update" },
  run: async (ctx, { kind, path, body }) => {
    await service.addGrant(ctx, { kind, path }, body.owner, body.write ?? false);
    return `${body.owner} may ${body.write ? "write" : "read"} ${kind} ${path}`;
  },
});

export const removeAcl = operation({
  name: "removeGranularAcls",
  method: "POST",
  path: `${base}/remove/{kind}/{path}`,
  access: "author",
  summary: "Revoke a grant",
  body: z.object({ owner: z.string() }),
  responds: responds.text("confirmation"),
  audit: { operation: "acls.remove", action_kind: "Update" },
  run: async (ctx, { kind, path, body }) => {
    await service.removeGrant(ctx, { kind, path }, body.owner);
    return `${body.owner} no longer has a grant of ${kind} ${path}`;
  },
});

export const aclOperations: Operation[] = [getAcls, explainAcls, addAcl, removeAcl];
