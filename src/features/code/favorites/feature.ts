import { defineFeature } from "../../../platform/http/feature.ts";
import { favoriteOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "code/favorites",
  operations: {
    "operations.ts": favoriteOperations,
  },
});
