import { LANGUAGES } from "../../../engines/languages/languages.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { executeAppComponent } from "./execute.ts";

const Inputs = z.record(z.string(), z.unknown());

const Execution = z.object({
  component: z.string(),
  path: optionalField(z.string()),
  args: Inputs.default({}),
  raw_code: optionalField(
    z.object({
      content: z.string(),
      language: z.enum(LANGUAGES),
      lock: optionalField(z.string()),
    }),
  ),
  force_viewer_static_fields: optionalField(Inputs),
  force_viewer_one_of_fields: optionalField(z.record(z.string(), z.array(z.unknown()))),
  force_viewer_allow_user_resources: optionalField(z.array(z.string())),
});

const runComponent = operation({
  name: "executeComponent",
  method: "POST",
  path: "/w/{workspace}/apps_u/execute_component/{path}",
  access: "anyone",
  scope: { domain: "apps", action: "run", resource: "path" },
  cors: true,
  summary: "Run the script or flow of an app's component, if the app's policy allows it",
  body: Execution,
  responds: responds.text("uuid of the job"),
  audit: { operation: "jobs.run", action_kind: "Execute" },
  run: (ctx, { workspace, path, body }) => executeAppComponent(ctx, workspace, path, body),
});

export const appExecuteOperations: Operation[] = [runComponent];
