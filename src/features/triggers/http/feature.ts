import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { invalidateRoutes } from "./active-routes.ts";
import { httpTriggerSection } from "./archive.ts";
import { httpTriggerOperations } from "./operations.ts";
import { requireNoOverlapUnder } from "./route-conflicts.ts";
import { routeOperations } from "./serve/serve-operations.ts";
import { httpTriggers } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/http",
  operations: {
    "operations.ts": httpTriggerOperations,
    "serve/serve-operations.ts": routeOperations,
  },
  itemKinds: [
    {
      kind: "http_trigger",
      table: toPathTable(httpTriggers, "extra_perms"),
      invalidate: (app) => invalidateRoutes(app),
    },
  ],
  pathColumns: [
    { column: httpTriggers.script_path },
    { column: httpTriggers.authentication_resource_path, prefixes: ["", "$var:"] },
  ],
  usernameColumns: [httpTriggers.edited_by],
  mentioningJson: [{ column: httpTriggers.signature, key: httpTriggers.path, form: "names" }],
  archiveSections: [httpTriggerSection],
  triggerCounts: [
    {
      table: toPathTable(httpTriggers, "script_path", "is_flow"),
      count: "http_routes_count",
      used: "http_routes_used",
    },
  ],
  invalidateWorkspace: (app) => invalidateRoutes(app),
  on: {
    userRenamed: async (app, tx) => tx.afterCommit(() => invalidateRoutes(app)),
    workspaceArchived: (app) => invalidateRoutes(app),
    workspaceMoving: requireNoOverlapUnder,
  },
});
