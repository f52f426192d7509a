/** Rows that features store in the transaction of a job's completion. */
import { expect, test } from "bun:test";
import type { Tx } from "../../../src/database/database.ts";
import type { App } from "../../../src/platform/app/context.ts";
import {
  collectFollowUp,
  type EndedJob,
  type JobEndListener,
  withFollowUp,
} from "../../../src/platform/app/job-ends.ts";

const job = { id: "1", kind: "script" } as EndedJob;
const tx = {} as Tx;

/** An app with features that store rows at some completions. */
function appWith(...listeners: JobEndListener[]): App {
  const features = listeners.map((jobEnded, at) => ({ folder: String(at), on: { jobEnded } }));
  return { features: [{ folder: "without" }, ...features] } as unknown as App;
}

const onFailure =
  (stored: string[], name: string): JobEndListener =>
  (_app, { id }, status) =>
    status === "failure" ? async () => void stored.push(`${name} of ${id}`) : undefined;

test("each feature stores its follow-up of a job's end, in the order of the features", async () => {
  const stored: string[] = [];
  const app = appWith(
    onFailure(stored, "a"),
    () => undefined,
    onFailure(stored, "b"),
    onFailure(stored, "c"),
  );
  await collectFollowUp(app, job, "failure")?.(tx);
  expect(stored).toEqual(["a of 1", "b of 1", "c of 1"]);
});

test("a job's end without a follow-up opens no further transaction", () => {
  const app = appWith(onFailure([], "a"));
  const work = async () => true;
  expect(collectFollowUp(app, job, "success")).toBeUndefined();
  expect(withFollowUp(app, job, "success", work)).toBe(work);
});

test("no follow-up is stored for an end that was not stored", async () => {
  const stored: string[] = [];
  const app = appWith(onFailure(stored, "a"));
  expect(await withFollowUp(app, job, "failure", async () => false)(tx)).toBe(false);
  expect(stored).toEqual([]);
  expect(await withFollowUp(app, job, "failure", async () => true)(tx)).toBe(true);
  expect(stored).toEqual(["a of 1"]);
});
