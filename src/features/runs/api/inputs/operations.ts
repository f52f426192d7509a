import { NotFound } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
} from "../../../../platform/http/operation.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { commonFilters } from "../lists/filters.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/inputs" as const;

const Input = z.object({
  id: z.string(),
  name: z.string(),
  created_by: z.string(),
  created_at: isoTimestamp,
  is_public: z.boolean(),
  /** Left empty in lists, but present for existing clients. */
  args: z.null(),
  success: z.boolean().optional(),
});

const Runnable = z.object({
  runnable_id: z.string(),
  runnable_type: z.enum(["ScriptHash", "ScriptPath", "FlowPath"]),
});

const Page = Runnable.extend({ ...pagingFields });

function splitRunnable<T extends service.InputTarget>({ runnable_id, runnable_type, ...rest }: T) {
  return { runnable: { runnable_id, runnable_type }, rest };
}

const listInputs = operation({
  name: "listInputs",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List saved arguments of a script or flow: the caller's, and those shared with everybody",
  query: Page,
  responds: responds.json(z.array(Input)),
  run: async (ctx, { query }) => {
    const { runnable, rest } = splitRunnable(query);
    const found = await service.listInputs(ctx, runnable, rest);
    return found.map(({ id, name, created_by, created_at, is_public }) => ({
      id,
      name,
      created_by,
      created_at,
      is_public,
      args: null,
    }));
  },
});

const getInputHistory = operation({
  name: "getInputHistory",
  method: "GET",
  path: `${base}/history`,
  access: "member",
  summary: "List the runs of a script or flow that the caller may see, to reuse their arguments",
  query: Page.extend({ args: commonFilters.args, include_preview: queryBoolean.optional() }),
  responds: responds.json(z.array(Input)),
  run: (ctx, { query }) => {
    const { runnable, rest } = splitRunnable(query);
    return service.listInputHistory(ctx, runnable, rest);
  },
});

const getArgs = operation({
  name: "getArgsFromHistoryOrSavedInput",
  method: "GET",
  path: `${base}/{job_or_input_id}/args`,
  access: "member",
  summary: "Read the arguments of a run, or saved ones with `input=true`",
  query: z.object({ input: queryBoolean.optional(), allow_large: queryBoolean.optional() }),
  responds: responds.raw("application/json", "the arguments"),
  run: async (ctx, { workspace, job_or_input_id: id, query }) =>
    new Response(await readArguments(ctx, workspace, id, query.input), {
      headers: { "content-type": "application/json" },
    }),
});

/**
 * Reads the arguments of a saved input or of an earlier run.
 * @param isInput undefined: the id may be that of a saved input or of a run
 */
async function readArguments(
  ctx: WorkspaceContext,
  workspace: string,
  id: string,
  isInput: boolean | undefined,
): Promise<string> {
  if (isInput === false) return (await getJob(ctx, workspace, id)).args;
  try {
    return (await service.getInput(ctx, id)).args;
  } catch (error) {
    if (isInput || !(error instanceof NotFound)) throw error;
    return (await getJob(ctx, workspace, id)).args;
  }
}

const name = z.string().trim().min(1, "must not be empty").max(200);

const createInput = operation({
  name: "createInput",
  method: "POST",
  path: `${base}/create`,
  access: "member",
  summary: "Save arguments of a script or flow",
  query: Runnable,
  body: z.object({ name, args: z.record(z.string(), z.unknown()) }),
  responds: responds.created("id"),
  audit: { operation: "inputs.create", action_kind: "Create" },
  run: (ctx, { query, body }) => service.createInput(ctx, query, body),
});

const updateInput = operation({
  name: "updateInput",
  method: "POST",
  path: `${base}/update`,
  access: "member",
  summary: "Rename saved arguments, and set whether they are shared with everybody",
  body: z.object({ id: z.string(), name, is_public: z.boolean() }),
  responds: responds.created("id"),
  audit: { operation: "inputs.update", action_kind: "Update" },
  run: async (ctx, { body }) => {
    await service.updateInput(ctx, body);
    return body.id;
  },
});

const deleteInput = operation({
  name: "deleteInput",
  method: "POST",
  path: `${base}/delete/{id}`,
  access: "member",
  summary: "Delete saved arguments",
  responds: responds.text("id"),
  audit: { operation: "inputs.delete", action_kind: "Delete" },
  run: async (ctx, { id }) => {
    await service.deleteInput(ctx, id);
    return id;
  },
});

export const inputOperations: Operation[] = [
  listInputs,
  getInputHistory,
  getArgs,
  createInput,
  updateInput,
  deleteInput,
];
