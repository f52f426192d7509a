import { Button, Group, SegmentedControl, Table, Text, TextInput, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { lazy, Suspense, useDeferredValue, useId, useMemo, useState } from "react";
import { writeJson } from "../../../../api/json.ts";
import { Loading } from "../../../elements/Loading.tsx";
import { createChartData } from "./chart-data.ts";
import { saveFile } from "./save.ts";

const Chart = lazy(() => import("./Chart.tsx"));

const PAGE_SIZE = 200;

const textOf = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "object" ? writeJson(value) : String(value);

function compare(a: unknown, b: unknown): number {
  const numeric = (each: unknown) => typeof each === "number" || typeof each === "bigint";
  if (numeric(a) && numeric(b))
    return (a as number) < (b as number) ? -1 : Number((a as number) > (b as number));
  return textOf(a).localeCompare(textOf(b), undefined, { numeric: true });
}

/** Writes CSV (RFC 4180). Escapes spreadsheet formulas. */
function formatCsv(columns: string[], rows: Record<string, unknown>[]): string {
  const field = (value: unknown) => {
    const text = textOf(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))]
    .map((cells) => cells.map(field).join(","))
    .join("\r\n");
}

export interface RowSelection {
  /** Index among all rows. */
  index: number;
  select: (index: number) => void;
}

interface Props {
  columns: string[];
  rows: Record<string, unknown>[];
  /** Whether the chart is shown first. */
  asChart?: boolean;
  selection?: RowSelection | undefined;
}

/** Table of rows that can be sorted and filtered, and a chart of the filtered rows' numbers. */
export function ResultTable({ columns, rows, asChart = false, selection }: Props) {
  const group = useId();
  const isSelectable = selection !== undefined;
  const indexes = useMemo(
    () => new Map(isSelectable ? rows.map((row, index) => [row, index]) : []),
    [rows, isSelectable],
  );
  const indexOf = (row: Record<string, unknown>): number => indexes.get(row) ?? 0;
  const [isChart, setChart] = useState(asChart);
  const [sort, setSort] = useState<{ column: string; down: boolean }>();
  const [text, setText] = useState("");
  const [shown, setShown] = useState(PAGE_SIZE);
  const wanted = useDeferredValue(text.toLowerCase());
  const chosen = useMemo(() => {
    const kept =
      wanted === ""
        ? rows
        : rows.filter((row) => columns.some((name) => textOf(row[name]).toLowerCase().includes(wanted)));
    if (!sort) return kept;
    const sorted = [...kept].sort((a, b) => compare(a[sort.column], b[sort.column]));
    return sort.down ? sorted.reverse() : sorted;
  }, [rows, columns, wanted, sort]);
  const chart = useMemo(() => createChartData(columns, chosen), [columns, chosen]);
  return (
    <>
      <Group p="xs" justify="space-between">
        <TextInput
          size="xs"
          aria-label="Filter the rows"
          placeholder="Filter the rows"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Group gap="sm">
          {(chart || isChart) && (
            <SegmentedControl
              size="xs"
              aria-label="Show the rows as"
              value={isChart ? "chart" : "table"}
              onChange={(value) => setChart(value === "chart")}
              data={[
                { value: "table", label: "Table" },
                { value: "chart", label: "Chart" },
              ]}
            />
          )}
          <Text fz="xs" c="dimmed">
            {chosen.length === rows.length
              ? `${rows.length} rows`
              : `${chosen.length} of ${rows.length} rows`}
          </Text>
          <Button
            size="xs"
            variant="default"
            onClick={() => saveFile("result.csv", "text/csv", formatCsv(columns, chosen))}
          >
            Save as CSV
          </Button>
        </Group>
      </Group>
      {isChart ? (
        chart ? (
          <Suspense fallback={<Loading rows={4} />}>
            <Chart data={chart} />
          </Suspense>
        ) : (
          <Text p="md" c="dimmed">
            A chart needs at least two rows with numbers.
          </Text>
        )
      ) : (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled by keys */}
          <div className="grid-scroll" tabIndex={0} role="group" aria-label="Rows of the result">
            <Table striped highlightOnHover>
              <Table.Thead>
                <Table.Tr>
                  {selection && <Table.Th w={40} aria-label="Selected" />}
                  {columns.map((name) => {
                    const sorted = sort?.column === name ? sort : undefined;
                    return (
                      <Table.Th
                        key={name}
                        aria-sort={sorted ? (sorted.down ? "descending" : "ascending") : "none"}
                      >
                        <UnstyledButton
                          fz="sm"
                          fw={600}
                          onClick={() =>
                            setSort(sorted?.down ? undefined : { column: name, down: sorted !== undefined })
                          }
                        >
                          {name}{" "}
                          {sorted && (sorted.down ? <IconArrowDown size={12} /> : <IconArrowUp size={12} />)}
                        </UnstyledButton>
                      </Table.Th>
                    );
                  })}
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {chosen.slice(0, shown).map((row, index) => (
                  <Table.Tr key={index} onClick={selection && (() => selection.select(indexOf(row)))}>
                    {selection && (
                      <Table.Td>
                        <input
                          type="radio"
                          name={group}
                          aria-label={`Select row ${indexOf(row) + 1}`}
                          checked={rows[selection.index] === row}
                          onChange={() => selection.select(indexOf(row))}
                        />
                      </Table.Td>
                    )}
                    {columns.map((name) => (
                      <Table.Td key={name} maw={420} className="wrap">
                        {textOf(row[name]).slice(0, 500)}
                      </Table.Td>
                    ))}
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
          {chosen.length > shown && (
            <Button fullWidth variant="subtle" onClick={() => setShown(shown + PAGE_SIZE)}>
              Show {Math.min(PAGE_SIZE, chosen.length - shown)} more rows
            </Button>
          )}
        </>
      )}
    </>
  );
}
