/** Operations for editors: checking a flow while it is being edited. */
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { describeFlowValue, findProblems } from "./value/check.ts";

export const checkFlow = operation({
  name: "checkFlow",
  method: "POST",
  path: "/w/{workspace}/flows/check",
  access: "member",
  summary: "List the problems of a flow's value, without storing it",
  body: z.object({ value: z.unknown() }),
  responds: responds.json(
    z.object({
      problems: z.array(
        z.object({
          path: z.array(z.union([z.string(), z.number()])),
          message: z.string(),
          is_refused: z.boolean(),
        }),
      ),
    }),
  ),
  run: async (_ctx, { body }) => ({ problems: findProblems(body.value) }),
});

const getFlowSchema = operation({
  name: "getFlowJsonSchema",
  method: "GET",
  path: "/flows/json_schema",
  access: "user",
  summary: "Read the JSON Schema of a flow's value",
  responds: responds.json(z.record(z.string(), z.unknown()), "JSON Schema, draft 2020-12"),
  run: async () => describeFlowValue(),
});

export const flowCheckOperations: Operation[] = [checkFlow, getFlowSchema];
