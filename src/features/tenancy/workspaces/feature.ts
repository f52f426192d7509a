import { defineFeature } from "../../../platform/http/feature.ts";
import { environmentOperations } from "./environment.ts";
import { workspaceSettings } from "./tables.ts";

export const feature = defineFeature({
  folder: "tenancy/workspaces",
  operations: {
    "environment.ts": environmentOperations,
  },
  mentioningJson: [
    { column: workspaceSettings.settings, key: workspaceSettings.workspace_id, form: "names" },
  ],
});
