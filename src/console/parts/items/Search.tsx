/** Client-side search in a list: a row must contain all words. The search text is in the address as `q`. */
import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useUrlParameters } from "../navigation/use-url-parameters.ts";

/** Returns a check whether a text contains all words of a search, ignoring case. */
export function createMatcher(search: string): (text: string) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const said = text.toLowerCase();
    return words.every((word) => said.includes(word));
  };
}

/** Returns the rows that match the search, and its field. @param of returns the text of a row to search */
export function useSearch<T>(
  noun: string,
  hint: string,
  rows: T[],
  of: (row: T) => string,
): [rows: T[], field: ReactNode] {
  const address = useUrlParameters({ push: false });
  const text = address.get("q");
  const matches = createMatcher(text);
  const field = (
    <TextInput
      data-search
      mb="sm"
      aria-label={`Search ${noun}`}
      placeholder={hint}
      leftSection={<IconSearch size={16} aria-hidden />}
      value={text}
      onChange={(event) => address.set({ q: event.currentTarget.value })}
    />
  );
  return [rows.filter((row) => matches(of(row))), field];
}
