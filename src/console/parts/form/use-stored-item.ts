/** Initial values of a form: the values stored when it opens, not cached ones. */
import { type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";

/**
 * Loads an item for its form. A cached response is reloaded first, so that saving does not undo other users' changes;
 * afterwards the form's initial values stay the same.
 * @param enabled false: a new item, of which nothing is stored
 */
export function useStoredItem<T, K extends QueryKey>(
  options: UseQueryOptions<T, Error, T, K>,
  enabled = true,
) {
  const { data, error, isFetching, isFetchedAfterMount } = useQuery({
    ...options,
    enabled,
    refetchOnMount: "always",
  });
  const [opened, setOpened] = useState<{ key: string; stored: T }>();
  const key = JSON.stringify(options.queryKey);
  const isFresh = isFetchedAfterMount && !isFetching && !error;
  if (isFresh && data !== undefined && opened?.key !== key) setOpened({ key, stored: data });
  return { stored: opened?.key === key ? opened.stored : undefined, error };
}
