import { defineFeature } from "../../../platform/http/feature.ts";
import { cliLoginOperations } from "./cli-login.ts";
import { oauthLoginOperations } from "./login/login-operations.ts";
import { sessionOperations } from "./session-operations.ts";
import { setupOperations } from "./setup-operations.ts";

export const feature = defineFeature({
  folder: "accounts/sessions",
  operations: {
    "session-operations.ts": sessionOperations,
    "setup-operations.ts": setupOperations,
    "cli-login.ts": cliLoginOperations,
    "login/login-operations.ts": oauthLoginOperations,
  },
});
