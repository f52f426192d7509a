/** The simulation agrees with results calculated by hand. */
import { expect, test } from "bun:test";
import { type Cluster, type JobCosts, simulate } from "./simulation.ts";

const FREE: JobCosts = { server_us: 1, script_us: 1, database_us: 1, flush_us: 1 };
const ONE: Cluster = { servers: 1, cores: 4, clients_per_server: 200 };

test.each([
  ["server thread", { ...FREE, server_us: 100 }, ONE, 10_000],
  ["server thread", { ...FREE, server_us: 100 }, { ...ONE, servers: 3 }, 30_000],
  ["script cores", { ...FREE, script_us: 3_000 }, ONE, 1_000],
  ["database cores", { ...FREE, database_us: 400 }, { ...ONE, servers: 3 }, 10_000],
] as const)("the limit is found: %s", (resource, costs, cluster, per_second) => {
  const found = simulate(costs, cluster);
  expect(found.limit).toBe(resource);
  expect(found.per_second / per_second).toBeWithin(0.93, 1.07);
  expect(found.use[resource]).toBeWithin(0.95, 1.02);
});

test("commits that wait for a flush share the next one", () => {
  // 200 clients wait for two flushes of 1 ms each, one of which is running when they arrive.
  const { limit, per_second } = simulate({ ...FREE, flush_us: 1_000 }, ONE);
  expect(limit).toBe("log flushes");
  expect(per_second).toBeWithin(45_000, 105_000);
});
