import { defineFeature } from "../../../platform/http/feature.ts";
import { folders } from "../../tenancy/people/folder-tables.ts";
import { folderSection } from "./archive.ts";
import { folderOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/folders",
  operations: {
    "operations.ts": folderOperations,
  },
  usernameColumns: [folders.created_by],
  archiveSections: [folderSection],
});
