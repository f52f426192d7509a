/** Reloads what is shown after a change. */
import type { Query, QueryClient } from "@tanstack/react-query";

/** Whether a query reads runs, which may be searched for seconds, and whose results may be large. */
const readsRuns = ({ queryKey }: Query) => queryKey[1] === "runs";

/**
 * Reloads what is shown, after a change of something other than runs. Resolves when everything but runs is shown as it
 * is now; those are reloaded too, and follow.
 */
export async function reloadAfterChange(client: QueryClient): Promise<void> {
  void client.invalidateQueries({ predicate: readsRuns });
  await client.invalidateQueries({ predicate: (query) => !readsRuns(query) });
}
