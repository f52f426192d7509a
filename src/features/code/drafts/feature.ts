import { defineFeature } from "../../../platform/http/feature.ts";
import { draftOperations } from "./operations.ts";
import { drafts } from "./tables.ts";

export const feature = defineFeature({
  folder: "code/drafts",
  operations: {
    "operations.ts": draftOperations,
  },
  pathColumns: [{ column: drafts.path, own: "occupied" }],
  usernameColumns: [drafts.created_by],
  mentioningJson: [{ column: drafts.value, key: drafts.path, form: "flow" }],
  encryptedColumns: [{ columns: [drafts.value], key: [drafts.kind, drafts.path, drafts.created_by] }],
});
