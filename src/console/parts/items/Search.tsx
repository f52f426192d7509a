/** Search in a list that is loaded: all words have to be found. The text stands in the address as `q`. */
import { TextInput } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useAddress } from "../use-address.ts";

/** Returns a check whether a text holds all words of a search, whatever their case. */
export function matcher(search: string): (text: string) => boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (text) => {
    const said = text.toLowerCase();
    return words.every((word) => said.includes(word));
  };
}

/**
 * Returns the rows that match the search, and its field.
 * @param of text of a row that is searched
 */
export function useSearch<T>(
  noun: string,
  hint: string,
  rows: T[],
  of: (row: T) => string,
): [rows: T[], field: ReactNode] {
  const address = useAddress({ push: false });
  const text = address.get("q");
  const matches = matcher(text);
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
