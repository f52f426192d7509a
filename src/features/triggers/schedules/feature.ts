import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { scheduleSection } from "./archive.ts";
import { rescheduleAfterSetBack } from "./clock-change.ts";
import { getScheduler } from "./get-scheduler.ts";
import { scheduleOperations } from "./operations.ts";
import { planRunAfterCancellation } from "./planned-run.ts";
import { findPrimarySchedule } from "./primary-schedule.ts";
import { createPlanRepair } from "./repair-plans.ts";
import { createScheduler } from "./scheduler.ts";
import { schedules } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/schedules",
  operations: {
    "operations.ts": scheduleOperations,
  },
  itemKinds: [{ kind: "schedule", table: toPathTable(schedules, "extra_perms") }],
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
  encryptedColumns: [
    {
      columns: [
        schedules.args,
        schedules.on_failure_extra_args,
        schedules.on_recovery_extra_args,
        schedules.on_success_extra_args,
      ],
      key: [schedules.path],
      email: schedules.email,
    },
  ],
  archiveSections: [scheduleSection],
  triggerCounts: [
    {
      table: toPathTable(schedules, "script_path", "is_flow"),
      count: "schedule_count",
      details: findPrimarySchedule,
    },
  ],
  on: {
    userRenamed: async (app, tx) => tx.afterCommit(() => getScheduler(app).wake()),
    clockSetBack: rescheduleAfterSetBack,
    jobEnded: planRunAfterCancellation,
  },
  loops: [
    { name: "scheduler", roles: ["all"], create: createScheduler },
    { name: "planned-runs", roles: ["all"], create: createPlanRepair },
  ],
});
