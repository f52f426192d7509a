import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { appSection } from "./archive.ts";
import { appBundleOperations } from "./bundle-operations.ts";
import { appListOperations } from "./list-operations.ts";
import { appOperations } from "./operations.ts";
import { rawAppOperations } from "./raw-operations.ts";
import { apps, appVersions, rawApps } from "./tables.ts";

export const feature = defineFeature({
  folder: "code/apps",
  operations: {
    "operations.ts": appOperations,
    "list-operations.ts": appListOperations,
    "bundle-operations.ts": appBundleOperations,
    "raw-operations.ts": rawAppOperations,
  },
  itemKinds: [
    { kind: "app", table: toPathTable(apps, "extra_perms"), updateEvent: { type: "UpdateApp" } },
    // Clients do not distinguish raw apps.
    { kind: "raw_app", table: toPathTable(rawApps, "extra_perms"), countedAs: "apps" },
  ],
  usernameColumns: [appVersions.created_by],
  mentioningJson: [
    { column: appVersions.value, key: appVersions.id, form: "flow" },
    { column: apps.policy, key: apps.path, form: "policy" },
  ],
  encryptedColumns: [
    { columns: [appVersions.value], key: [appVersions.id] },
    { columns: [apps.policy], key: [apps.path] },
  ],
  archiveSections: [appSection],
});
