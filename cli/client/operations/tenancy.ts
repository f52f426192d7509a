import type * as environment from "../../../src/features/tenancy/workspaces/environment.ts";
import { remote } from "../remote-operation.ts";

export const setEnvironmentVariable = remote<typeof environment.setEnvironmentVariable>(
  "POST",
  "/w/{workspace}/workspaces/set_environment_variable",
  "text",
);
