import { Switch } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type Column, DataTable } from "../../parts/elements/DataTable.tsx";
import { Empty } from "../../parts/elements/Empty.tsx";
import { Loading } from "../../parts/elements/Loading.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";
import { ItemName } from "../../parts/items/ItemName.tsx";
import { OnlyFirst } from "../../parts/items/OnlyFirst.tsx";
import { useSearch } from "../../parts/items/Search.tsx";

interface Trigger {
  path: string;
  summary?: string | null;
  script_path: string;
  enabled: boolean;
}

interface Props<T extends Trigger> {
  list: UseQueryResult<T[]>;
  /** Such as `HTTP routes`. */
  label: string;
  /** Such as `Route`. */
  noun: string;
  /** Returns the address of a trigger's page. */
  at: (path: string) => string;
  /** Returns text to search, besides summary, path and script. */
  textOf: (trigger: T) => string;
  /** Columns between name and switch. */
  columns: Column<T>[];
  mayChange: (trigger: T) => boolean;
  change: { isPending: boolean; mutate: (change: { path: string; enabled: boolean }) => void };
  /** Maximum number that the server lists. */
  max: number;
  empty: { about: string; command: string; create: ReactNode };
}

/** Searchable list of triggers of one kind, with switches to enable them. */
export function TriggerList<T extends Trigger>(props: Props<T>) {
  const { list, label, noun, at, textOf, columns, mayChange, change, max, empty } = props;
  const [rows, field] = useSearch(
    label,
    "Search by name, path, address or script",
    list.data ?? [],
    (trigger) => `${trigger.path} ${trigger.summary ?? ""} ${trigger.script_path} ${textOf(trigger)}`,
  );
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  if (list.data.length === 0) {
    return (
      <Empty title={`No ${label} yet`} action={empty.create} command={empty.create ? empty.command : false}>
        {empty.about}
      </Empty>
    );
  }
  const name: Column<T> = {
    name: noun,
    width: "minmax(0, 1.2fr)",
    cell: ({ path, summary }) => <ItemName href={at(path)} path={path} summary={summary} />,
  };
  const power: Column<T> = {
    name: "On",
    width: "3rem",
    cell: (trigger) => (
      <Switch
        size="xs"
        aria-label={`${noun} ${trigger.path} is on`}
        checked={trigger.enabled}
        disabled={!mayChange(trigger) || change.isPending}
        onChange={(event) => change.mutate({ path: trigger.path, enabled: event.currentTarget.checked })}
      />
    ),
  };
  return (
    <>
      {field}
      {rows.length === 0 ? (
        <Empty title="Nothing matches">Change the search.</Empty>
      ) : (
        <DataTable label={label} rows={rows} keyOf={({ path }) => path} columns={[name, ...columns, power]} />
      )}
      <OnlyFirst max={max} count={list.data.length} />
    </>
  );
}
