import { and, eq } from "drizzle-orm";
import { defineFeature } from "../../../platform/http/feature.ts";
import { favoriteOperations } from "./operations.ts";
import { favorites } from "./tables.ts";

export const feature = defineFeature({
  folder: "code/favorites",
  operations: {
    "operations.ts": favoriteOperations,
  },
  pathColumns: [{ column: favorites.path, own: "stale" }],
  on: {
    memberLeft: async (_app, tx, { workspace_id, email }) => {
      await tx
        .delete(favorites)
        .where(and(eq(favorites.workspace_id, workspace_id), eq(favorites.email, email)));
    },
  },
});
