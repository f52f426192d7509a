/** Periodic maintenance tasks: disk space, alerts and the license. */

import { createServiceGroup, type Service } from "../../../lib/async/service.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type TaskOptions } from "../../../platform/loops/periodic-task.ts";
import { checkDisk } from "../../signals/alerts/disk.ts";
import { reportFailedMigration } from "../../signals/alerts/failed-migration.ts";
import { notifyDue } from "../../signals/alerts/notify-channels.ts";
import { deleteOldAlerts } from "../../signals/alerts/service.ts";
import { renewLicenseIfDue } from "../license/renewal.ts";
import { prepareMonths } from "./job-months.ts";

const DEFAULT_INTERVAL_MS = 60_000;
/** Shorter, so that a channel that was briefly unavailable is notified soon. */
const ALERTS_INTERVAL_MS = 5_000;
const MONTHS_INTERVAL_MS = 3_600_000;

type MaintenanceTask = Pick<TaskOptions, "leader_task" | "interval_ms"> & {
  what: string;
  work: (app: App) => Promise<void>;
};

/** Each is a task of its own, so that a hanging license or mail server does not delay the others. */
const MAINTENANCE_TASKS: MaintenanceTask[] = [
  { what: "an earlier start", work: reportFailedMigration },
  { what: "the disk", work: checkDisk },
  { what: "old alerts", work: deleteOldAlerts, leader_task: "old alerts" },
  {
    what: "the jobs' months",
    work: prepareMonths,
    leader_task: "job months",
    interval_ms: MONTHS_INTERVAL_MS,
  },
  { what: "the license", work: renewLicenseIfDue, leader_task: "license" },
  {
    what: "alerts that are due",
    work: notifyDue,
    leader_task: "alerts",
    interval_ms: ALERTS_INTERVAL_MS,
  },
];

export function createMaintenance(app: App): Service {
  const tasks = MAINTENANCE_TASKS.map(({ what, work, ...how }): [string, Service] => {
    const run = () => work(app);
    const failure = `${what} could not be looked after`;
    return [
      what,
      createPeriodicTask(app, { interval_ms: DEFAULT_INTERVAL_MS, ...how, failure_message: failure, run }),
    ];
  });
  return createServiceGroup(app.log, tasks);
}
