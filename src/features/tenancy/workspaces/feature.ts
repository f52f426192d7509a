import { defineFeature } from "../../../platform/http/feature.ts";
import { environmentOperations, forgetEnvironment } from "./environment.ts";
import { forgetErrorHandler } from "./error-handler-cache.ts";
import { forgetKey } from "./secrets.ts";
import { workspaceSettings } from "./tables.ts";
import { forgetUsage } from "./usage.ts";

export const feature = defineFeature({
  folder: "tenancy/workspaces",
  operations: {
    "environment.ts": environmentOperations,
  },
  mentioningJson: [
    { column: workspaceSettings.settings, key: workspaceSettings.workspace_id, form: "names" },
  ],
  invalidateWorkspace(app, workspace_id) {
    forgetKey(app, workspace_id);
    forgetEnvironment(app, workspace_id);
    forgetUsage(app, workspace_id);
    forgetErrorHandler(app, workspace_id);
  },
});
