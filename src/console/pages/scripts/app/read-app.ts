/** Parses the value of an app, as existing app editors store it, to components in reading order. */

import { type Fields, isRecord } from "../../../api/json.ts";

export interface AppComponent {
  id: string;
  /** Without the suffix `component`: `text`, `button`. */
  kind: string;
  /** Width in columns; a row has twelve. */
  columns: number;
  configuration: Fields;
  input: unknown;
  /** Ids of components that run again after this one has succeeded. */
  recomputes: string[];
  children: { label: string; components: AppComponent[] }[];
  /** Buttons of a table for each row. */
  actions: AppComponent[];
}

/** The script, flow or code that a component runs. */
export interface AppRunnable {
  /** `script/<path>` or `flow/<path>`; undefined for code in the app. */
  path: string | undefined;
  code: { content: string; language: string; lock?: string } | undefined;
  /** Source of each argument. */
  fields: Record<string, Fields>;
  schema: unknown;
  /** Whether it runs when the page opens, and when its inputs change. */
  isAutomatic: boolean;
}

/** Kind of components that run code and show nothing. */
export const BACKGROUND = "background";

/** Maximum nesting of containers; deeper ones are left out. */
const MAX_DEPTH = 10;

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const number = (value: unknown): number => (typeof value === "number" ? value : 0);

/** Lists the components of an app. @returns undefined if the value has another form */
export function readApp(value: unknown): AppComponent[] | undefined {
  if (!isRecord(value) || !Array.isArray(value.grid)) return undefined;
  const subgrids = isRecord(value.subgrids) ? value.subgrids : {};
  return [...readGrid(value.grid, subgrids, 0), ...readBackground(value.hiddenInlineScripts)];
}

/** Returns the components that run code and show nothing. Expressions name their results by number: `bg_0`. */
const readBackground = (scripts: unknown): AppComponent[] =>
  (Array.isArray(scripts) ? scripts : []).flatMap((script: unknown, index) => {
    if (!isRecord(script) || script.hidden === true) return [];
    const { fields, autoRefresh } = script;
    const input = { type: "runnable", runnable: script, fields, autoRefresh };
    return [
      {
        id: `bg_${index}`,
        kind: BACKGROUND,
        columns: 12,
        configuration: {},
        input,
        recomputes: [],
        children: [],
        actions: [],
      },
    ];
  });

function readGrid(grid: unknown, subgrids: Fields, depth: number): AppComponent[] {
  if (!Array.isArray(grid) || depth > MAX_DEPTH) return [];
  const cells = grid.filter(isRecord).map((cell) => {
    const place = isRecord(cell["12"]) ? cell["12"] : isRecord(cell["3"]) ? cell["3"] : {};
    return { data: cell.data, x: number(place.x), y: number(place.y), w: number(place.w) || 12 };
  });
  return cells
    .sort((a, b) => a.y - b.y || a.x - b.x)
    .flatMap(({ data, w }) => (isRecord(data) ? [readComponent(data, w, subgrids, depth)] : []));
}

function readComponent(data: Fields, columns: number, subgrids: Fields, depth: number): AppComponent {
  const id = text(data.id);
  const count = Math.min(number(data.numberOfSubgrids), 50);
  const tabs: unknown[] = Array.isArray(data.tabs) ? data.tabs : [];
  return {
    id,
    kind: text(data.type).replace(/component(v\d+)?$/, ""),
    columns: Math.min(Math.max(columns, 1), 12),
    configuration: isRecord(data.configuration) ? data.configuration : {},
    input: data.componentInput,
    recomputes: Array.isArray(data.recomputeIds) ? data.recomputeIds.map(String) : [],
    children: Array.from({ length: count }, (_, index) => ({
      label: text(tabs[index]),
      components: readGrid(subgrids[`${id}-${index}`], subgrids, depth + 1),
    })),
    actions: [data.actionButtons, data.actions].flatMap((list) =>
      (Array.isArray(list) && depth <= MAX_DEPTH ? list : [])
        .filter(isRecord)
        .map((action) => readComponent(action, 12, {}, MAX_DEPTH + 1)),
    ),
  };
}

/** Returns what a component runs; undefined if it runs nothing. */
export function findRunnable({ input, kind }: AppComponent): AppRunnable | undefined {
  if (!isRecord(input) || input.type !== "runnable" || !isRecord(input.runnable)) return undefined;
  const { runnable } = input;
  const script = isRecord(runnable.inlineScript) ? runnable.inlineScript : undefined;
  const path = text(runnable.path);
  const isCode = script !== undefined && text(script.content) !== "";
  if (!isCode && path === "") return undefined;
  const fields = isRecord(input.fields) ? input.fields : {};
  return {
    path: isCode ? undefined : `${runnable.runType === "flow" ? "flow" : "script"}/${path}`,
    code: isCode
      ? {
          content: text(script.content),
          language: text(script.language),
          ...(text(script.lock) ? { lock: text(script.lock) } : {}),
        }
      : undefined,
    fields: Object.fromEntries(
      Object.entries(fields).filter((entry): entry is [string, Fields] => isRecord(entry[1])),
    ),
    schema: isRecord(script?.schema) ? script.schema : runnable.schema,
    isAutomatic: !RUN_BY_HAND.has(kind) && input.autoRefresh !== false,
  };
}

const TABLES: ReadonlySet<string> = new Set(
  "table aggrid aggridinfinite aggridinfiniteee dbexplorer".split(" "),
);

export const isTable = ({ kind }: AppComponent): boolean => TABLES.has(kind);

const RUN_BY_HAND: ReadonlySet<string> = new Set(["button", "form", "formbutton"]);
