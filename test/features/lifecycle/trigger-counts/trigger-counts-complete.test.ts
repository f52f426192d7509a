import { expect, test } from "bun:test";
import { getTableColumns, getTableName, type Table } from "drizzle-orm";
import { features } from "../../../../src/server/features.ts";
import { allTables } from "../../../support/tables.ts";

test("every table whose rows start a script or flow is counted", async () => {
  const counted = features.flatMap(({ triggerCounts = [] }) =>
    triggerCounts.map(({ table }) => getTableName(table as unknown as Table)),
  );
  const starting = (await allTables()).filter((table) => {
    const columns = getTableColumns(table);
    return "script_path" in columns && "is_flow" in columns;
  });
  expect([...new Set(counted)].toSorted()).toEqual(starting.map(getTableName).toSorted());
});
