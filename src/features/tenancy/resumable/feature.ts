import { defineFeature } from "../../../platform/http/feature.ts";
import { createResumer } from "./resumer.ts";

export const feature = defineFeature({
  folder: "tenancy/resumable",
  operations: {},
  loops: [{ name: "resumer", roles: ["all"], create: createResumer }],
});
