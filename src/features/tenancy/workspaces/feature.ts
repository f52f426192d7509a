import { defineFeature } from "../../../platform/http/feature.ts";
import { environmentOperations, invalidateEnvironment } from "./environment.ts";
import { invalidateHandlers } from "./handler-cache.ts";
import { invalidateKey } from "./secrets.ts";
import { workspaceSettings } from "./tables.ts";
import { discardPendingUsage } from "./usage.ts";

export const feature = defineFeature({
  folder: "tenancy/workspaces",
  operations: {
    "environment.ts": environmentOperations,
  },
  mentioningJson: [
    { column: workspaceSettings.settings, key: workspaceSettings.workspace_id, form: "names" },
  ],
  invalidateWorkspace(app, workspace_id) {
    invalidateKey(app, workspace_id);
    invalidateEnvironment(app, workspace_id);
    discardPendingUsage(app, workspace_id);
    invalidateHandlers(app, workspace_id);
  },
});
