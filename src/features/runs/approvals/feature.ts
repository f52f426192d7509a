import { defineFeature } from "../../../platform/http/feature.ts";
import { approvalOperations } from "./operations.ts";
import { approvalPageOperations } from "./page-operations.ts";

export const feature = defineFeature({
  folder: "runs/approvals",
  operations: {
    "operations.ts": approvalOperations,
    "page-operations.ts": approvalPageOperations,
  },
});
