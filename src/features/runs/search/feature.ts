import { defineFeature } from "../../../platform/http/feature.ts";
import { createSearchIndexer, rewindSearchIndex } from "./indexer.ts";

export const feature = defineFeature({
  folder: "runs/search",
  operations: {},
  loops: [{ name: "search indexer", roles: ["all"], create: createSearchIndexer }],
  on: {
    clockSetBack: rewindSearchIndex,
  },
});
