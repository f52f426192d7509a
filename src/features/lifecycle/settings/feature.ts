import { defineFeature } from "../../../platform/http/feature.ts";
import { workspaceSettings } from "../../tenancy/workspaces/tables.ts";
import { settingsSection } from "./archive.ts";
import { copilotOperations } from "./copilot-operations.ts";
import { defaultOperations } from "./default-operations.ts";
import { workspaceSettingsOperations } from "./settings-operations.ts";
import { storageSettingOperations } from "./storage-operations.ts";
import { usageOperations } from "./usage-operations.ts";

export const feature = defineFeature({
  folder: "lifecycle/settings",
  operations: {
    "settings-operations.ts": workspaceSettingsOperations,
    "copilot-operations.ts": copilotOperations,
    "default-operations.ts": defaultOperations,
    "usage-operations.ts": usageOperations,
    "storage-operations.ts": storageSettingOperations,
  },
  encryptedColumns: [{ columns: [workspaceSettings.settings], key: [workspaceSettings.workspace_id] }],
  archiveSections: [settingsSection],
});
