/**
 * The suite for frequent runs during a change: the shortest test files, as many as run in less than a minute.
 */
import { existsSync, readFileSync } from "node:fs";
import { Glob } from "bun";
import { TIMINGS } from "./suite.ts";

/** Share of the duration of all files: durations depend on the machine, shares hardly. */
const SHARE = 0.05;
/** Tests of the executable, which must be built first. */
const NEVER = /^test\/acceptance\/(e2e|console)\//;

/** @returns paths of test files, including new ones, whose duration is unknown */
export function findQuickFiles(): string[] {
  const { files }: { files: Record<string, number> } = existsSync(TIMINGS)
    ? JSON.parse(readFileSync(TIMINGS, "utf8"))
    : { files: {} };
  const all = [...new Glob("test/**/*.test.ts").scanSync()].filter((file) => !NEVER.test(file));
  const durationOf = (file: string) => files[file] ?? 0;
  const budget = SHARE * all.reduce((sum, file) => sum + durationOf(file), 0);
  let sum = 0;
  return all
    .toSorted((a, b) => durationOf(a) - durationOf(b))
    .filter((file) => {
      sum += durationOf(file);
      return sum <= budget;
    });
}
