/** What a form begins with: what is stored at the moment it opens, not what a page showed earlier. */
import { type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { useState } from "react";

/**
 * Reads an item for its form. A cached answer is read again first, so that saving does not undo what somebody else
 * changed meanwhile; once the form is open its beginning stays the same, whatever is read later.
 * @param enabled false: a new item, of which nothing is stored
 */
export function useStored<T, K extends QueryKey>(options: UseQueryOptions<T, Error, T, K>, enabled = true) {
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
