import * as z from "../../../lib/zod/z.ts";
import { type Operation, operation, responds } from "../../../platform/http/operation.ts";
import * as service from "./service.ts";

const base = "/w/{workspace}/favorites" as const;

const Favorite = z.object({
  path: z.string(),
  favorite_kind: z.enum(["script", "flow", "app", "raw_app"]),
});

const starItem = operation({
  name: "star",
  method: "POST",
  path: `${base}/star`,
  access: "member",
  summary: "Star a script, a flow or an app",
  body: Favorite,
  responds: responds.text("confirmation"),
  audit: { operation: "favorites.star", action_kind: "Create" },
  run: async (ctx, { body: { path, favorite_kind: kind } }) => {
    await service.starItem(ctx, { kind, path });
    return `starred ${kind} ${path}`;
  },
});

const unstarItem = operation({
  name: "unstar",
  method: "POST",
  path: `${base}/unstar`,
  access: "member",
  summary: "Unstar a script, a flow or an app",
  body: Favorite,
  responds: responds.text("confirmation"),
  audit: { operation: "favorites.unstar", action_kind: "Delete" },
  run: async (ctx, { body: { path, favorite_kind: kind } }) => {
    await service.unstarItem(ctx, { kind, path });
    return `unstarred ${kind} ${path}`;
  },
});

export const favoriteOperations: Operation[] = [starItem, unstarItem];
