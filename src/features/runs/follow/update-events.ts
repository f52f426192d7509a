/** Formats update events. Every event is an `update`; everything else is a comment (WHATWG HTML §9.2). */

import { parseJson } from "../../../lib/json/json.ts";
import type { Caller } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { canSeeAccounts, redactRecord, toJobRecord } from "../job/records.ts";
import type { JobUpdate, SeenState } from "./updates.ts";

/** The last comment of a stream when the server stops: the client reconnects with its offsets. */
export const STOP_COMMENT = "the server stops";

export interface StreamOptions {
  workspace_id: string;
  job_id: string;
  seen: SeenState;
  fast: boolean;
  /** Ends after MAX_STREAM_MS, as getupdate_sse does; run_and_stream lasts to completion. */
  limited: boolean;
  caller: Caller;
}

/** A job's completion, as sent to its followers. */
export interface Completion {
  /** JSON text. */
  result: string;
  job: Job | undefined;
}

/** The recipient of an update. */
interface UpdateAudience {
  caller: Caller;
  only_result: boolean;
}

/** Returns a key that is equal for recipients of equal updates. */
export function createAudienceKey({ caller, only_result }: UpdateAudience): string {
  return `${only_result} ${canSeeAccounts(caller)}`;
}

/** Formats an update. The result is JSON already and is inserted unchanged, unless it has line breaks. */
export function formatUpdate(update: JobUpdate, ended: Completion | undefined, how: UpdateAudience): string {
  if (ended?.job && !how.only_result) update.job = redactRecord(how.caller, toJobRecord(ended.job));
  const json = JSON.stringify({ type: "update", ...update });
  if (!ended) return `data: ${json}\n\n`;
  const result = /[\r\n]/.test(ended.result) ? JSON.stringify(parseJson(ended.result)) : ended.result;
  return `data: ${json.slice(0, -1)},"only_result":${result}}\n\n`;
}

/** Creates the update that ends a stream with an error. */
export function createErrorUpdate(error: string): object {
  return { type: "update", error };
}
