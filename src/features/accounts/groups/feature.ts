import { defineFeature } from "../../../platform/http/feature.ts";
import { groupSection } from "./archive.ts";
import { instanceGroupOperations } from "./instance-operations.ts";
import { groupOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/groups",
  operations: {
    "operations.ts": groupOperations,
    "instance-operations.ts": instanceGroupOperations,
  },
  archiveSections: [groupSection],
});
