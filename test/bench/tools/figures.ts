/** A measured figure, and how it is formatted. */
import Table from "cli-table3";

export interface Figure {
  what: string;
  measured: string;
  /** Name of the baseline, measured in the same run. */
  floor: string;
  /** The ratio that the target limits. */
  ratio: number;
  target: string;
  holds: boolean;
}

/** Content of `dist/bench.json`. */
export interface Report {
  at: string;
  cores: number;
  figures: Figure[];
}

export const perSecond = (value: number) => `${Math.round(value).toLocaleString("en")}/s`;
export const ms = (value: number) => `${value.toFixed(2)} ms`;
export const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;

/** Prints the figures, and which targets they miss. */
export function printFigures(figures: Figure[]): void {
  const table = new Table({
    head: ["what", "measured", "floor", "ratio", "target", "holds"],
    style: { head: [], border: [] },
  });
  for (const { what, measured, floor, ratio, target, holds } of figures) {
    table.push([what, measured, floor, ratio.toFixed(2), target, holds ? "yes" : "NO"]);
  }
  process.stdout.write(`${table.toString()}\n`);
  const missed = figures.filter((figure) => !figure.holds);
  process.stdout.write(
    `${figures.length - missed.length} of ${figures.length} targets hold${missed.map((figure) => `; missed: ${figure.what}`).join("")}\n`,
  );
}
