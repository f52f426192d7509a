import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { flowsQuery, scriptsQuery } from "../items/lists.ts";
import type { RunnableKind } from "../navigation/places.ts";

export interface RunnableRef {
  kind: RunnableKind;
  path: string;
}

interface Props {
  workspace: string;
  label: string;
  value: RunnableRef | undefined;
  change: (value: RunnableRef | undefined) => void;
}

const keyOf = ({ kind, path }: RunnableRef) => `${kind} ${path}`;

/** Select for a script or flow. */
export function RunnableInput({ workspace, label, value, change }: Props) {
  const scripts = useQuery(scriptsQuery(workspace)).data ?? [];
  const flows = useQuery(flowsQuery(workspace)).data ?? [];
  const optionsOf = (kind: RunnableKind, items: { path: string; summary: string }[]) =>
    items.map(({ path, summary }) => ({
      value: keyOf({ kind, path }),
      label: summary ? `${path} · ${summary}` : path,
    }));
  const known = [...optionsOf("script", scripts), ...optionsOf("flow", flows)];
  const missing = value && !known.some((each) => each.value === keyOf(value));
  return (
    <Select
      label={label}
      required
      searchable
      limit={100}
      placeholder="Choose a script or flow"
      nothingFoundMessage="No script or flow has this path."
      value={value ? keyOf(value) : null}
      onChange={(next) => {
        const at = next?.indexOf(" ") ?? -1;
        change(next ? { kind: next.slice(0, at) as RunnableKind, path: next.slice(at + 1) } : undefined);
      }}
      data={[
        { group: "Scripts", items: optionsOf("script", scripts) },
        { group: "Flows", items: optionsOf("flow", flows) },
        ...(missing ? [{ group: "Others", items: [{ value: keyOf(value), label: value.path }] }] : []),
      ]}
    />
  );
}
