/** Jobs of a chosen age, and a pass of the retention task. */
import { createFilePruner, createPruner } from "../../../../src/features/lifecycle/retention/pruner.ts";
import type { TestServer } from "../../../support/harness.ts";

export const HOUR_S = 3_600;
export const DAY_S = 24 * HOUR_S;
/** Jobs are kept for a day in most of these tests. */
export const RETENTION = { retention_s: DAY_S, audit_retention_s: 2 * DAY_S };

export const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** Moves the server's clock forward. */
export function advanceClock({ server }: TestServer, seconds: number): void {
  Object.assign(server.app, { clock: () => new Date(Date.now() + seconds * 1000) });
}

export const prune = async ({ server }: TestServer) => {
  await createPruner(server.app).prune();
  await createFilePruner(server.app).prune();
};
