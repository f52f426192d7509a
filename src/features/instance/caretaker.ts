/** What a server does about itself now and then: looks at its disk, at its alerts and at its licence. */
import type { App } from "../../context.ts";
import { checkDisk } from "../alerts/disk.ts";
import { tellFailedMigration } from "../alerts/failed-migration.ts";
import { tendAlerts } from "../alerts/service.ts";
import { tendLicense } from "../license/renewal.ts";

const EVERY_MS = 60_000;

const ROUNDS: [what: string, (app: App) => Promise<void>][] = [
  ["an earlier start", tellFailedMigration],
  ["the disk", checkDisk],
  ["the alerts", tendAlerts],
  ["the licence", tendLicense],
];

/** Begins, with a first round at once. */
export function startCaretaker(app: App): { stop(): Promise<void> } {
  let going: Promise<void> = round(app);
  const timer = setInterval(() => {
    going = going.then(() => round(app));
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await going;
    },
  };
}

async function round(app: App): Promise<void> {
  for (const [what, look] of ROUNDS) {
    await look(app).catch((cause) =>
      app.log.warn({ error: String(cause) }, `${what} could not be looked after`),
    );
  }
}
