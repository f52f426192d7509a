/** What a dialog waits for before it closes. */
import { afterEach, expect, test } from "bun:test";
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { reloadAfterChange } from "../../src/console/api/reload.ts";

const client = new QueryClient();
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
  client.clear();
});

/** Shows a query on a page. Its first load takes no time, and each later one until it is released. */
async function show(queryKey: string[]) {
  let loads = 0;
  const gate = Promise.withResolvers<void>();
  const observer = new QueryObserver(client, {
    queryKey,
    queryFn: async () => {
      const load = ++loads;
      if (load > 1) await gate.promise;
      return load;
    },
  });
  const shown = Promise.withResolvers<void>();
  ends.push(observer.subscribe(({ data }) => data === 1 && shown.resolve()));
  await shown.promise;
  return { release: gate.resolve, shows: () => observer.getCurrentResult().data, loads: () => loads };
}

test("a change waits for the changed list, and not for runs, which are reloaded too", async () => {
  const schedules = await show(["acme", "schedules", "list"]);
  const runs = await show(["acme", "runs", "of-schedule", "f/shop/nightly"]);
  let isOver = false;
  const change = reloadAfterChange(client).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  expect([schedules.loads(), runs.loads(), isOver]).toEqual([2, 2, false]);
  schedules.release();
  await change;
  expect([schedules.shows(), runs.shows()]).toEqual([2, 1]);
  runs.release();
});
