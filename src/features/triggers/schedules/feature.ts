import { pathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { scheduleOperations } from "./operations.ts";
import { createScheduler } from "./scheduler.ts";
import { schedulerOf } from "./service.ts";
import { schedules } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/schedules",
  operations: {
    "operations.ts": scheduleOperations,
  },
  itemKinds: [{ kind: "schedule", table: pathTable(schedules, "extra_perms") }],
  pathColumns: [
    { column: schedules.script_path },
    { column: schedules.on_failure, prefixes: ["script/", "flow/"] },
    { column: schedules.on_recovery, prefixes: ["script/", "flow/"] },
    { column: schedules.on_success, prefixes: ["script/", "flow/"] },
  ],
  usernameColumns: [schedules.edited_by],
  mentioningJson: [
    schedules.args,
    schedules.on_failure_extra_args,
    schedules.on_recovery_extra_args,
    schedules.on_success_extra_args,
  ].map((column) => ({ column, key: schedules.path, form: "references" as const })),
  on: {
    userRenamed: async (app, tx) => tx.afterCommit(() => schedulerOf(app).wake()),
  },
  loops: [{ name: "scheduler", roles: ["all"], create: createScheduler }],
});
