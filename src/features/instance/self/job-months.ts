/** Watches over the partitions of coming months, where the jobs have monthly partitions. */
import type { App } from "../../../platform/app/context.ts";
import { addComingMonths } from "../../lifecycle/retention/coming-months.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";

/** Adds the missing partitions, and raises an alert if that fails. */
export async function prepareMonths(app: App): Promise<void> {
  try {
    await addComingMonths(app, app.clock());
  } catch (cause) {
    const message = `a partition for the jobs of a coming month could not be added: ${describe(cause)}`;
    await raiseAlert(app, { kind: "job_month_missing", message });
  }
}

/** Returns the message of the error's first cause, which is that of the database. */
function describe(thrown: unknown): string {
  let at = thrown;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at instanceof Error ? at.message : String(at);
}
