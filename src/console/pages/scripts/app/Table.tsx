/** A table of an app: one of its rows is selected, which other components can refer to. */
import { Button, Group } from "@mantine/core";
import { type ComponentType, useEffect, useRef } from "react";
import { isEqualJson, isRecord } from "../../../api/json.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { toTable } from "../../../parts/runs/result/kinds.ts";
import { ResultPanel } from "../../../parts/runs/result/ResultPanel.tsx";
import type { Scope } from "./evaluate.ts";
import { type AppComponent, findRunnable } from "./read-app.ts";
import { useApp } from "./use-app.ts";
import { Failure, Note, useValue } from "./values.tsx";

interface Props {
  component: AppComponent;
  /** Renders a button of the table. */
  action: ComponentType<{ component: AppComponent; names: Scope }>;
}

export function AppTable({ component, action: Action }: Props) {
  const { id, configuration, input, actions } = component;
  const { workspace, outputs, set } = useApp();
  const { value, note } = useValue(input);
  const title = useValue(configuration.title).value;
  const output = outputs[id] ?? {};
  const runs = findRunnable(component) !== undefined;
  const shown = runs ? output.result : value;
  const rows = toTable(shown)?.rows;
  const index = output.selectedRowIndex ?? 0;
  const { page = 0 } = output;
  const select = (next: number) => {
    const row = rows?.[next];
    set(id, { selectedRowIndex: next, selectedRow: row ?? {}, selectedRows: row ? [row] : [] });
    // The results of its buttons were of another row.
    for (const each of actions) set(each.id, { result: undefined, error: "" });
  };
  const drawn = useRef<unknown>(undefined);
  // New rows: the first is selected, as in the apps' own pages.
  useEffect(() => {
    if (isEqualJson(drawn.current, shown)) return;
    drawn.current = shown;
    select(0);
    if (!runs) set(id, { result: shown });
  });
  if (note) return <Note>{note}</Note>;
  if (output.error) return <Failure message={output.error} />;
  if (runs && output.result === undefined) return <Loading rows={2} />;
  const isPaged = isRecord(configuration.pagination) && configuration.pagination.selected === "manual";
  return (
    <div className="stack">
      <ResultPanel
        title={typeof title === "string" && title !== "" ? title : "Table"}
        workspace={workspace}
        value={shown}
        selection={{ index, select }}
      />
      {isPaged && (
        <Group gap="xs">
          <Button
            size="xs"
            variant="default"
            disabled={page === 0}
            onClick={() => set(id, { page: page - 1 })}
          >
            Previous page
          </Button>
          <Button size="xs" variant="default" onClick={() => set(id, { page: page + 1 })}>
            Next page
          </Button>
          <span className="quiet">Page {page + 1}</span>
        </Group>
      )}
      {rows && actions.length > 0 && (
        <Group gap="xs" align="baseline" role="group" aria-label={`Actions for row ${index + 1}`}>
          <span className="quiet">Row {index + 1}:</span>
          {actions.map((each) => (
            <Action key={each.id} component={each} names={{ row: { value: output.selectedRow, index } }} />
          ))}
        </Group>
      )}
    </div>
  );
}
