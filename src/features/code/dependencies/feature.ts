import { defineFeature } from "../../../platform/http/feature.ts";
import { dependencySection } from "./archive.ts";
import { workspaceDependencyOperations } from "./operations.ts";
import { workspaceDependencies } from "./tables.ts";

export const feature = defineFeature({
  folder: "code/dependencies",
  operations: {
    "operations.ts": workspaceDependencyOperations,
  },
  usernameColumns: [workspaceDependencies.created_by],
  archiveSections: [dependencySection],
});
