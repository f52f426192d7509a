/** Prepares the numbers of a table for a chart. */

type Row = Record<string, unknown>;

export interface Series {
  name: string;
  /** One per row; undefined without a number. */
  values: (number | undefined)[];
}

export interface ChartData {
  /** Axis label of each row. */
  labels: string[];
  /** Position of each row along the axis, from 0 to 1. */
  places: number[];
  series: Series[];
}

const isNumber = (value: unknown): value is number | bigint =>
  (typeof value === "number" && Number.isFinite(value)) || typeof value === "bigint";

const isMissing = (value: unknown) => value === null || value === undefined;

const isNumeric = (rows: Row[], column: string): boolean =>
  rows.some((row) => isNumber(row[column])) &&
  rows.every((row) => isNumber(row[column]) || isMissing(row[column]));

const isRising = (values: number[]): boolean =>
  values.every(
    (value, index) => Number.isFinite(value) && (index === 0 || value > (values[index - 1] as number)),
  );

const momentOf = (value: unknown): number =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;

/** Computes the position of each row: by ascending numbers or times, else evenly spaced. */
function computePositions(rows: Row[], column: string | undefined): number[] {
  const scale =
    column === undefined
      ? []
      : rows.map((row) => (isNumber(row[column]) ? Number(row[column]) : momentOf(row[column])));
  const even = rows.map((_, index) => (rows.length === 1 ? 0.5 : index / (rows.length - 1)));
  if (scale.length < 2 || !isRising(scale)) return even;
  const [first, last] = [scale[0]!, scale.at(-1)!];
  return scale.map((value) => (value - first) / (last - first));
}

/** Prepares the numeric columns of a table for a chart. @returns undefined if there are no numbers to draw */
export function createChartData(columns: string[], rows: Row[]): ChartData | undefined {
  if (rows.length < 2) return undefined;
  const numeric = columns.filter((column) => isNumeric(rows, column));
  const isScale = (column: string) => isRising(rows.map((row) => Number(row[column] ?? Number.NaN)));
  const axis =
    columns.find((column) => !numeric.includes(column)) ??
    (numeric.length > 1 ? numeric.find(isScale) : undefined);
  const drawn = numeric.filter((column) => column !== axis);
  if (drawn.length === 0) return undefined;
  return {
    labels: rows.map((row, index) => (axis === undefined ? String(index + 1) : String(row[axis] ?? ""))),
    places: computePositions(rows, axis),
    series: drawn.map((name) => ({
      name,
      values: rows.map((row) => (isMissing(row[name]) ? undefined : Number(row[name]))),
    })),
  };
}

/** Lists round values between two numbers, for the axis. */
export function computeTicks(least: number, most: number): number[] {
  const step = 10 ** Math.floor(Math.log10((most - least) / 3));
  const wide = [1, 2, 5, 10].map((each) => each * step).find((each) => (most - least) / each <= 5) ?? step;
  const first = Math.ceil(least / wide);
  const last = Math.floor(most / wide);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * wide).toPrecision(12)),
  );
}

/** Returns indices of at most `most` rows, keeping the minimum and maximum of each range. */
export function downsample(values: (number | undefined)[], most: number): number[] {
  const all = values.flatMap((value, index) => (value === undefined ? [] : [index]));
  if (all.length <= most) return all;
  const stretch = Math.ceil(all.length / (most / 2));
  const kept: number[] = [];
  for (let start = 0; start < all.length; start += stretch) {
    const part = all.slice(start, start + stretch);
    const by = (a: number, b: number) => (values[a] as number) - (values[b] as number);
    const sorted = [...part].sort(by);
    kept.push(...[...new Set([sorted[0]!, sorted.at(-1)!])].sort((a, b) => a - b));
  }
  return kept;
}
