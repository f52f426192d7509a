/**
 * Status and content type of operations that are not in the contract's tables: generated clients rely on them.
 */
import { expect, test } from "bun:test";
import { operations } from "../../../src/server/features.ts";

test.each([
  ["createSchedule", 201, "text"],
  ["updateSchedule", 200, "text"],
  ["setDefaultErrorOrRecoveryHandler", 201, "text"],
  ["createInput", 201, "text"],
  ["updateInput", 201, "text"],
  ["deleteInput", 200, "text"],
  ["runDependencies", 201, "json"],
  ["createFolder", 200, "text"],
  ["createGroup", 200, "text"],
  ["createInstanceGroup", 200, "text"],
  ["updateCapture", 204, "raw"],
  ["createAccount", 200, "text"],
  ["deleteS3File", 200, "json"],
  ["moveS3File", 200, "json"],
  ["setJobProgress", 200, "json"],
  ["deleteConcurrencyGroup", 200, "json"],
  ["deleteScriptByPath", 200, "json"],
  ["deleteScriptByHash", 200, "json"],
] as const)("%s answers %d %s", (name, status, kind) => {
  const { responds } = operations.find((op) => op.name === name)!;
  expect([responds.status, responds.kind]).toEqual([status, kind]);
});
