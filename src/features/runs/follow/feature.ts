import { defineFeature } from "../../../platform/http/feature.ts";
import { createRemoteJobEvents } from "./remote-completions.ts";

export const feature = defineFeature({
  folder: "runs/follow",
  operations: {},
  loops: [{ name: "other servers", roles: ["all", "worker"], create: createRemoteJobEvents }],
});
