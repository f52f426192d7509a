import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import { renameUser } from "./rename.ts";

export const renameUserOperation = operation({
  name: "globalUserRename",
  method: "POST",
  path: "/users/rename/{email}",
  access: "superAdmin",
  summary: "Rename a user in all workspaces; items below u/<name>/ move along",
  body: z.object({ new_username: z.string() }),
  responds: responds.text("confirmation"),
  audit: { operation: "users.rename", action_kind: "Update" },
  run: async (ctx, { email, body }) => {
    await renameUser(ctx, email, body.new_username);
    return `user ${email} is called ${body.new_username}`;
  },
});

export const renamingOperations: Operation[] = [renameUserOperation];
