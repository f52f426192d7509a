/** What a server does about itself now and then: looks at its disk, at its alerts and at its licence. */
import type { App } from "../../context.ts";
import { checkDisk } from "../alerts/disk.ts";
import { tellFailedMigration } from "../alerts/failed-migration.ts";
import { forgetOldAlerts } from "../alerts/service.ts";
import { tellDue } from "../alerts/telling.ts";
import { tendLicense } from "../license/renewal.ts";

const EVERY_MS = 60_000;
/** A channel that was away for a moment is told soon after. */
const ALERTS_EVERY_MS = 10_000;

type Look = [what: string, look: (app: App) => Promise<void>];

const ROUND: Look[] = [
  ["an earlier start", tellFailedMigration],
  ["the disk", checkDisk],
  ["old alerts", forgetOldAlerts],
  ["the licence", tendLicense],
];

const ALERTS: Look[] = [["alerts that are due", tellDue]];

/** Begins, with a first round at once. */
export function startCaretaker(app: App): { stop(): Promise<void> } {
  const rounds = [repeat(app, ROUND, EVERY_MS), repeat(app, ALERTS, ALERTS_EVERY_MS)];
  return {
    async stop() {
      await Promise.all(rounds.map((each) => each.stop()));
    },
  };
}

function repeat(app: App, looks: Look[], every_ms: number): { stop(): Promise<void> } {
  let going: Promise<void> = round(app, looks);
  const timer = setInterval(() => {
    going = going.then(() => round(app, looks));
  }, every_ms);
  return {
    async stop() {
      clearInterval(timer);
      await going;
    },
  };
}

async function round(app: App, looks: Look[]): Promise<void> {
  for (const [what, look] of looks) {
    await look(app).catch((cause) =>
      app.log.warn({ error: String(cause) }, `${what} could not be looked after`),
    );
  }
}
