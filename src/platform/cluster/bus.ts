/**
 * What the servers of one PostgreSQL tell each other at once: that there is work, that a job has ended, that something
 * remembered is out of date. Told after the commit, by NOTIFY, and together with whatever else there is to tell, so it
 * costs a job next to nothing.
 *
 * Nothing is lost for good if a message is: a server that may have missed one, because its connection broke or its own
 * messages do not come back to it, is told so (`onGap`) and looks for itself. That bounds how long it can be wrong by
 * `DEAF_MS` and a look.
 */

import type { Database } from "../../database/database.ts";
import { sleep } from "../../lib/async/sleep.ts";
import type { Log } from "../../lib/logging/log.ts";
import { randomText } from "../../lib/text/ids.ts";
import type { Relay } from "../app/relay.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";

const CHANNEL = "svc";
/** PostgreSQL takes fewer than 8,000 bytes. */
const MAX_BYTES = 7_800;
/** Of brackets, quotes and commas around the messages of one payload. */
const FRAME_BYTES = 5;
/** How often each server hears itself, and after how long without that it counts as deaf. */
const BEAT_MS = 2_000;
const DEAF_MS = 7_000;
/** Between tries to tell while the database cannot be reached. */
const RETRY_MS = 500;
/** More than this to tell is told as one gap. */
const MAX_PENDING = 20_000;
const BEAT = "beat";
const GAP = "gap";

/** The relay of a process that has its database for itself. */
export const nobodyElse: Relay = { tell() {}, on() {}, onGap() {}, async stop() {} };

/** @param listens false for a command, which only tells */
export async function openRelay(db: Database, log: Log, listens: boolean): Promise<Relay> {
  const { channel } = db;
  if (!channel) return nobodyElse;
  const me = randomText(8);
  const hearers = new Map<string, ((...words: string[]) => void)[]>();
  const lookers: (() => void)[] = [];
  /** JSON of one message each; a set, since the same need not be told twice. */
  let pending = new Set<string>();
  let telling: Promise<void> | undefined;
  let stopped = false;
  let heardAt = performance.now();

  function tell(topic: string, ...words: string[]): void {
    if (pending.size >= MAX_PENDING) pending = new Set([JSON.stringify([GAP])]);
    const message = JSON.stringify([topic, ...words]);
    // What cannot be told word by word makes the others look for themselves: it must not hold up all that follows.
    const isTooLong = me.length + FRAME_BYTES + Buffer.byteLength(message) > MAX_BYTES;
    pending.add(isTooLong ? JSON.stringify([GAP]) : message);
    telling ??= tellAll();
  }

  async function tellAll(): Promise<void> {
    // The rest of this turn's messages go along.
    await Promise.resolve();
    while (pending.size > 0) {
      const payload = nextPayload();
      // What is told again from here on is another message.
      for (const message of payload.messages) pending.delete(message);
      try {
        await channel!.notify(CHANNEL, payload.text);
      } catch (cause) {
        for (const message of payload.messages) pending.add(message);
        if (stopped) break;
        log.warn({ error: String(cause) }, "the other servers could not be told of a change yet");
        await sleep(RETRY_MS);
      }
    }
    telling = undefined;
  }

  function nextPayload(): { text: string; messages: string[] } {
    const messages: string[] = [];
    let bytes = me.length + FRAME_BYTES;
    for (const message of pending) {
      bytes += Buffer.byteLength(message) + 1;
      if (bytes > MAX_BYTES && messages.length > 0) break;
      messages.push(message);
    }
    return { text: `["${me}",${messages.join(",")}]`, messages };
  }

  function hear(payload: string): void {
    const told = readPayload(payload);
    if (!told) {
      log.warn({ bytes: payload.length }, `somebody else speaks in the database's channel "${CHANNEL}"`);
      return;
    }
    if (told.from === me) {
      heardAt = performance.now();
      return;
    }
    for (const [topic, ...words] of told.messages) {
      if (topic === GAP) gap();
      for (const hearer of hearers.get(topic!) ?? []) hearer(...words);
    }
  }

  function gap(): void {
    for (const look of lookers) look();
  }

  /** A change may have been stored of which nobody is told: all look for themselves, this server too. */
  let isUncertain = false;
  channel.onUncertain(() => {
    if (listens) isUncertain = true;
    else tell(GAP);
  });
  const listening = listens ? await channel.listen(CHANNEL, hear, gap) : undefined;
  const beat = createPeriodicTask(
    { clock: () => new Date(), log },
    {
      failure: "this server could not look whether it hears the others",
      first_ms: BEAT_MS,
      interval_ms: BEAT_MS,
      async run() {
        tell(BEAT);
        if (isUncertain) {
          isUncertain = false;
          tell(GAP);
          gap();
        }
        if (performance.now() - heardAt > DEAF_MS) gap();
      },
    },
  );
  if (listens) await beat.start();
  return {
    tell,
    on(topic, hearer) {
      hearers.set(topic, [...(hearers.get(topic) ?? []), hearer]);
    },
    onGap: (look) => void lookers.push(look),
    async stop() {
      stopped = true;
      await beat.stop();
      await telling;
      await listening?.stop();
    },
  };
}

/** Undefined for what no server wrote: anybody who may use the database may speak in its channels. */
function readPayload(payload: string): { from: string; messages: string[][] } | undefined {
  try {
    const [from, ...messages] = JSON.parse(payload) as [string, ...string[][]];
    return typeof from === "string" && messages.every(Array.isArray) ? { from, messages } : undefined;
  } catch {
    return undefined;
  }
}
