/** What servers do about themselves now and then: look at their disk, at the alerts and at the licence. */

import { createGroup, type Service } from "../../../lib/async/start-stop.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type Task } from "../../../platform/loops/periodic-task.ts";
import { checkDisk } from "../../signals/alerts/disk.ts";
import { tellFailedMigration } from "../../signals/alerts/failed-migration.ts";
import { tellDue } from "../../signals/alerts/notify-channels.ts";
import { forgetOldAlerts } from "../../signals/alerts/service.ts";
import { tendLicense } from "../license/renewal.ts";

const INTERVAL_MS = 60_000;
/** A channel that was away for a moment is told soon after. */
const ALERTS_INTERVAL_MS = 10_000;

type Duty = Pick<Task, "of_leader" | "interval_ms"> & { what: string; work: (app: App) => Promise<void> };

/** Each is done by itself: a licence server or mail server that hangs holds up no other. */
const DUTIES: Duty[] = [
  { what: "an earlier start", work: tellFailedMigration },
  { what: "the disk", work: checkDisk },
  { what: "old alerts", work: forgetOldAlerts, of_leader: "old alerts" },
  { what: "the licence", work: tendLicense, of_leader: "licence" },
  {
    what: "alerts that are due",
    work: tellDue,
    of_leader: "alerts",
    interval_ms: ALERTS_INTERVAL_MS,
  },
];

export function createCaretaker(app: App): Service {
  const tasks = DUTIES.map(({ what, work, ...how }): [string, Service] => {
    const run = () => work(app);
    const failure = `${what} could not be looked after`;
    return [what, createPeriodicTask(app, { interval_ms: INTERVAL_MS, ...how, failure, run })];
  });
  return createGroup(app.log, tasks);
}
