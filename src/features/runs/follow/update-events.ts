/** What a stream of updates writes: every event is an `update`; all else are comments (WHATWG HTML §9.2). */

import { parseJson } from "../../../lib/json/json.ts";
import type { Caller } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { mayKnowPeople, toldTo, toRecord } from "../job/records.ts";
import type { JobUpdate } from "./updates.ts";

/** The last comment of a stream of getupdate_sse that has lasted long enough: the client comes back with its offsets. */
export const STREAM_LIMIT = "timeout";

/** How a job ended, as far as its followers are told. */
export interface Completion {
  /** JSON text. */
  result: string;
  job: Job | undefined;
}

/** For whom an update is written. */
interface How {
  caller: Caller;
  only_result: boolean;
}

/** Equal for followers who are told the same. */
export function keyOf({ caller, only_result }: How): string {
  return `${only_result} ${mayKnowPeople(caller)}`;
}

/** The text of an update. A result is JSON already and goes in as it is, as long as it keeps to one line. */
export function writeUpdate(update: JobUpdate, ended: Completion | undefined, how: How): string {
  if (ended?.job && !how.only_result) update.job = toldTo(how.caller, toRecord(ended.job));
  const json = JSON.stringify({ type: "update", ...update });
  if (!ended) return `data: ${json}\n\n`;
  const result = /[\r\n]/.test(ended.result) ? JSON.stringify(parseJson(ended.result)) : ended.result;
  return `data: ${json.slice(0, -1)},"only_result":${result}}\n\n`;
}

/** Why there is nothing more. */
export function errorUpdate(error: string): object {
  return { type: "update", error };
}
