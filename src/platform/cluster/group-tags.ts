/** Which jobs this process takes: its own setting, else what its group is given, else all. */
import { eq } from "drizzle-orm";
import { perApp } from "../../lib/async/per-app.ts";
import type { App } from "../app/context.ts";
import { forgottenEverywhere } from "./cache-invalidation.ts";
import { workerGroups } from "./tables.ts";

/** Where the tags of a group stand in its configuration, as existing clients write it. */
export const TAGS_KEY = "worker_tags";

/** Of this process's group; undefined: not limited. */
const ofGroup = perApp<App, { tags: string[] | undefined }>(() => ({ tags: undefined }));

/** Tags of the jobs that this process takes; undefined: all. */
export function takenTags(app: App): string[] | undefined {
  return listed(app.config.worker_tags) ?? ofGroup(app).tags;
}

/** Reads what the group of this process is given. */
export async function readGroupTags(app: App): Promise<void> {
  const [row] = await app.db.read
    .select({ config: workerGroups.config })
    .from(workerGroups)
    .where(eq(workerGroups.name, app.config.worker_group));
  const tags = row?.config[TAGS_KEY];
  ofGroup(app).tags = Array.isArray(tags) && tags.length > 0 ? tags.map(String) : undefined;
  app.queue.look();
}

const readAgain = (app: App): void => {
  readGroupTags(app).catch((cause) =>
    app.log.warn({ error: String(cause) }, "what the group of this worker is given could not be read"),
  );
};

/** Called after the commit that changed a group. */
export const groupsChanged = forgottenEverywhere<[]>("worker groups", {
  forget: readAgain,
  forgetAll: readAgain,
});

function listed(text: string | undefined): string[] | undefined {
  const tags = text?.split(",").flatMap((tag) => tag.trim() || []);
  return tags?.length ? tags : undefined;
}
