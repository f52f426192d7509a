import { pathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { httpTriggerOperations } from "./operations.ts";
import { routeOperations } from "./serve/serve-operations.ts";
import { forgetRoutes } from "./table.ts";
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
      table: pathTable(httpTriggers, "extra_perms"),
      invalidate: (app) => forgetRoutes(app),
    },
  ],
  pathColumns: [
    { column: httpTriggers.script_path },
    { column: httpTriggers.authentication_resource_path, prefixes: ["", "$var:"] },
  ],
  usernameColumns: [httpTriggers.edited_by],
  mentioningJson: [{ column: httpTriggers.signature, key: httpTriggers.path, form: "names" }],
  on: {
    userRenamed: async (app, tx) => tx.afterCommit(() => forgetRoutes(app)),
  },
});
