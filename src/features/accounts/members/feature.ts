import { defineFeature } from "../../../platform/http/feature.ts";
import { memberSection } from "./archive.ts";
import { autoInviteOperations } from "./joining/auto-invite.ts";
import { peopleOperations } from "./joining/membership-operations.ts";
import { memberOperations } from "./member-operations.ts";

export const feature = defineFeature({
  folder: "accounts/members",
  operations: {
    "member-operations.ts": memberOperations,
    "joining/membership-operations.ts": peopleOperations,
    "joining/auto-invite.ts": autoInviteOperations,
  },
  archiveSections: [memberSection],
});
