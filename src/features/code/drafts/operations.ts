import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  type Operation,
  operation,
  ResponseWithHeaders,
  responds,
} from "../../../platform/http/operation.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/drafts" as const;

const Kind = z.enum(["script", "flow", "app"]);

const draft = z
  .unknown()
  .refine((value) => value !== undefined && value !== null, "is missing: give the draft");

const createDraft = operation({
  name: "createDraft",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Save the caller's draft of a script, a flow or an app",
  body: z.object({
    path: z.string(),
    typ: Kind,
    value: draft,
    replaces: z
      .string()
      .nullable()
      .optional()
      .describe(
        "revision of the caller's draft that this one is based on (`draft_revision` of `get/draft`, header " +
          "`draft-revision` of the last save), null if there was none: rejected (409) if another was saved since",
      ),
  }),
  responds: responds.created("confirmation; the header `draft-revision` identifies this state of the draft"),
  audit: { operation: "drafts.create", action_kind: "Create" },
  run: async (ctx, { body: { path, typ, value, replaces } }) => {
    const revision = await service.saveDraft(ctx, { kind: typ, path, value, replaces });
    return new ResponseWithHeaders(`draft of ${typ} ${path} created`, { "draft-revision": revision });
  },
});

const deleteDraft = operation({
  name: "deleteDraft",
  method: "DELETE",
  path: `${base}/delete/{kind}/{path}`,
  access: "author",
  summary: "Delete the caller's draft, or another user's by `created_by`",
  query: z.object({ created_by: z.string().optional() }),
  responds: responds.text("confirmation"),
  audit: { operation: "drafts.delete", action_kind: "Delete" },
  run: async (ctx, { kind, path, query: { created_by } }) => {
    const known = Kind.safeParse(kind);
    if (!known.success)
      throw new BadRequest(`"${kind}" has no drafts: use one of ${Kind.options.join(", ")}`);
    await service.deleteDraft(ctx, { kind: known.data, path, created_by });
    return `draft of ${kind} ${path} deleted`;
  },
});

export const draftOperations: Operation[] = [createDraft, deleteDraft];
