/** State in the query of the address. */
import { useCallback } from "react";
import { useSearchParams } from "wouter";

/**
 * Returns the parameters of the address, and a setter for some of them at once; empty ones are removed. Of several
 * calls in one event only the last has an effect.
 */
export function useUrlParameters({ push = true }: { push?: boolean } = {}) {
  const [search, setSearch] = useSearchParams();
  const set = useCallback(
    (values: Record<string, string | undefined>) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(values)) {
            if (value) next.set(name, value);
            else next.delete(name);
          }
          return next;
        },
        { replace: !push },
      ),
    [push, setSearch],
  );
  return { get: (name: string) => search.get(name) ?? "", set };
}
