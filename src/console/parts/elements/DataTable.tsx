import type { ReactNode } from "react";

export interface Column<T> {
  /** Heading; empty for the column of buttons at the end of the row. */
  name: string;
  /** Width of the grid column, such as `8rem` or `minmax(0, 2fr)`. */
  width: string;
  cell: (row: T) => ReactNode;
  /** Hidden in a narrow window. */
  wideOnly?: boolean;
}

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string;
}

const isNothing = (shown: ReactNode) =>
  shown === null || shown === undefined || shown === false || shown === "";

/**
 * Table of short lists. In a narrow window the first cell and the buttons share a line, and the other cells are below.
 */
export function DataTable<T>({ label, columns, rows, keyOf }: Props<T>) {
  const style = { "--columns": columns.map(({ width }) => width).join(" ") } as object;
  const marks = ({ name, wideOnly }: Column<T>) => ({
    ...(wideOnly ? { "data-wide": true } : {}),
    ...(name === "" ? { "data-buttons": true } : {}),
  });
  return (
    <div className="rows" role="table" aria-label={label} style={style}>
      <div role="rowgroup">
        <div className="row row-head data-row" role="row">
          {columns.map((column) => (
            <div key={column.name} role="columnheader" {...marks(column)}>
              {column.name}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup">
        {rows.map((row) => (
          <div key={keyOf(row)} className="row data-row" role="row">
            {columns.map((column) => {
              const shown = column.cell(row);
              const isNamed = column !== columns[0] && column.name !== "" && !isNothing(shown);
              return (
                <div
                  key={column.name}
                  role="cell"
                  className="data-cell"
                  {...marks(column)}
                  {...(isNamed ? { "data-name": column.name } : {})}
                >
                  {isNamed ? <div>{shown}</div> : shown}
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}
