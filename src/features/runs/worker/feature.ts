import { defineFeature } from "../../../platform/http/feature.ts";
import { failFrame } from "../flows/wake/fail-run.ts";
import { wakeDueFrames } from "../flows/wake/wake-run.ts";
import { createWakeUpTimers } from "../flows/wake/wake-up-timers.ts";
import { createIdleCollection } from "./idle-collection.ts";
import { createRescuer } from "./rescuer.ts";

const WITH_JOBS = ["all", "worker", "own"] as const;

export const feature = defineFeature({
  folder: "runs/worker",
  operations: {},
  loops: [
    { name: "rescuer", roles: WITH_JOBS, phase: "before worker", create: createRescuer },
    {
      name: "idle collection",
      roles: ["all", "worker"],
      create: (app) => createIdleCollection(app),
    },
    {
      name: "flow waker",
      roles: WITH_JOBS,
      phase: "before worker",
      create: (app) =>
        createWakeUpTimers(app, {
          wake: (root_job, frame_ids) => wakeDueFrames(app, root_job, frame_ids),
          fail: (root_job, frame_id, cause) => failFrame(app, root_job, frame_id, cause),
        }),
    },
  ],
});
