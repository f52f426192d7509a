/** Job tags accepted by this process: its own setting, else its worker group's, else all. */
import { eq } from "drizzle-orm";
import { memoizePerApp } from "../../lib/async/per-app.ts";
import type { App } from "../app/context.ts";
import { defineInvalidation } from "./cache-invalidation.ts";
import { workerGroups } from "./tables.ts";

/** Key of the tags in a worker group's configuration, as existing clients write it. */
export const WORKER_TAGS_KEY = "worker_tags";

/** Tags of this process's worker group; undefined: all. */
const groupTagsOf = memoizePerApp<App, { tags: string[] | undefined }>(() => ({ tags: undefined }));

/** Returns the tags of the jobs that this process accepts; undefined: all. */
export function getWorkerTags(app: App): string[] | undefined {
  return parseTagList(app.config.worker_tags) ?? groupTagsOf(app).tags;
}

/** Loads the tags of this process's worker group and wakes the worker. */
export async function loadGroupTags(app: App): Promise<void> {
  const [row] = await app.db.read
    .select({ config: workerGroups.config })
    .from(workerGroups)
    .where(eq(workerGroups.name, app.config.worker_group));
  const tags = row?.config[WORKER_TAGS_KEY];
  groupTagsOf(app).tags = Array.isArray(tags) && tags.length > 0 ? tags.map(String) : undefined;
  app.queue.wakeLocal();
}

const reloadGroupTags = (app: App): void => {
  loadGroupTags(app).catch((cause) =>
    app.log.warn({ error: String(cause) }, "the tags of the worker group could not be loaded"),
  );
};

/** Makes all servers reload their worker group's tags. Call it after the commit. */
export const invalidateWorkerGroups = defineInvalidation<[]>("worker groups", {
  forget: reloadGroupTags,
  forgetAll: reloadGroupTags,
});

function parseTagList(text: string | undefined): string[] | undefined {
  const tags = text?.split(",").flatMap((tag) => tag.trim() || []);
  return tags?.length ? tags : undefined;
}
