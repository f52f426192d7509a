/**
 * Messages between servers that share a PostgreSQL database, over LISTEN/NOTIFY: new jobs, cache invalidations, and
 * completed jobs unless there is no other server. Messages are sent after the commit and batched into one NOTIFY.
 *
 * Delivery is best effort. When messages may have been missed (a broken connection, or own messages that do not come
 * back), `onMissed` handlers re-read their state. Stale state therefore lasts at most `SILENCE_TIMEOUT_MS` plus one
 * re-read.
 *
 * Built on it: `cache-invalidation.ts` (drops cached values on all servers), `request-reply.ts` (asks the one server
 * that knows, or waits for all), `leadership.ts`, and runs/follow/remote-completions.ts (jobs that ended elsewhere).
 * `heartbeat.ts` lists the live workers; `processes.ts` retires script processes on all machines.
 */

import type { Database } from "../../database/database.ts";
import { sleep } from "../../lib/async/sleep.ts";
import type { Log } from "../../lib/logging/log.ts";
import { createRandomText } from "../../lib/text/ids.ts";
import type { ClusterBus } from "../app/relay.ts";
import { createPeriodicTask } from "../loops/periodic-task.ts";

const CHANNEL = "svc";
/** PostgreSQL accepts payloads of less than 8,000 bytes. */
const MAX_PAYLOAD_BYTES = 7_800;
/** Bytes of the brackets, quotes and commas around the messages of one payload. */
const ENVELOPE_BYTES = 5;
/** Interval at which each server sends a message to the others and itself. */
const HEARTBEAT_INTERVAL_MS = 2_000;
/**
 * A server that has not heard itself for this long assumes that messages are lost; one that has heard no other, that
 * there is none.
 */
const SILENCE_TIMEOUT_MS = 7_000;
/** Wait between attempts to publish while the database cannot be reached. */
const RETRY_INTERVAL_MS = 500;
/** Above this, the queued messages are replaced by one that makes all servers re-read their state. */
const MAX_PENDING_MESSAGES = 20_000;
const HEARTBEAT_TOPIC = "beat";
const MISSED_TOPIC = "gap";

/** The bus of a process that does not share its database. */
export const noopBus: ClusterBus = {
  publish() {},
  hasPeers: () => false,
  subscribe() {},
  onMissed() {},
  async stop() {},
};

/** Opens the connection for messages between servers. @param listens false for CLI commands, which only publish */
export async function openClusterBus(db: Database, log: Log, listens: boolean): Promise<ClusterBus> {
  const { channel } = db;
  if (!channel) return noopBus;
  const me = createRandomText(8);
  const ownPrefix = `["${me}",`;
  const listeners = new Map<string, ((...words: string[]) => void)[]>();
  const gapListeners: (() => void)[] = [];
  /** JSON of one message each. A set, because duplicates need to be sent once only. */
  let pending = new Set<string>();
  let telling: Promise<void> | undefined;
  let stopped = false;
  let heardAt = performance.now();
  /** When another server was heard, or may have been missed. */
  let peerHeardAt = performance.now();

  function tell(topic: string, ...words: string[]): void {
    if (pending.size >= MAX_PENDING_MESSAGES) pending = new Set([JSON.stringify([MISSED_TOPIC])]);
    const message = JSON.stringify([topic, ...words]);
    // A message too long for one payload becomes a MISSED message, so that it does not block the ones after it.
    const isTooLong = me.length + ENVELOPE_BYTES + Buffer.byteLength(message) > MAX_PAYLOAD_BYTES;
    pending.add(isTooLong ? JSON.stringify([MISSED_TOPIC]) : message);
    telling ??= tellAll();
  }

  async function tellAll(): Promise<void> {
    // Lets the other messages of this turn of the event loop join the batch.
    await Promise.resolve();
    while (pending.size > 0) {
      const payload = nextPayload();
      // From here on, publishing the same text again is a new message.
      for (const message of payload.messages) pending.delete(message);
      try {
        await channel!.notify(CHANNEL, payload.text);
      } catch (cause) {
        for (const message of payload.messages) pending.add(message);
        if (stopped) break;
        log.warn({ error: String(cause) }, "messages for the other servers could not be published yet");
        await sleep(RETRY_INTERVAL_MS);
      }
    }
    telling = undefined;
  }

  function nextPayload(): { text: string; messages: string[] } {
    const messages: string[] = [];
    let bytes = me.length + ENVELOPE_BYTES;
    for (const message of pending) {
      bytes += Buffer.byteLength(message) + 1;
      if (bytes > MAX_PAYLOAD_BYTES && messages.length > 0) break;
      messages.push(message);
    }
    return { text: `${ownPrefix}${messages.join(",")}]`, messages };
  }

  /** The silence of others counts only as long as the own messages arrive. */
  const hasPeers = () => !listens || heardAt - peerHeardAt < SILENCE_TIMEOUT_MS;

  function hear(payload: string): void {
    if (payload.startsWith(ownPrefix)) {
      heardAt = performance.now();
      return;
    }
    const messages = parsePayload(payload);
    if (!messages) {
      log.warn(
        { bytes: payload.length },
        `another client sends messages on the database's channel "${CHANNEL}"`,
      );
      return;
    }
    peerHeardAt = performance.now();
    for (const [topic, ...words] of messages) {
      if (topic === MISSED_TOPIC) gap();
      for (const hearer of listeners.get(topic!) ?? []) hearer(...words);
    }
  }

  function gap(): void {
    peerHeardAt = performance.now();
    for (const look of gapListeners) look();
  }

  /**
   * A commit's outcome is unknown, so its message was not sent: all servers, this one included, re-read their state.
   */
  let isUncertain = false;
  channel.onUncertain(() => {
    if (listens) isUncertain = true;
    else tell(MISSED_TOPIC);
  });
  const listening = listens ? await channel.listen(CHANNEL, hear, gap) : undefined;
  const beat = createPeriodicTask(
    { clock: () => new Date(), log },
    {
      failure_message: "the heartbeat on the cluster bus failed",
      first_delay_ms: HEARTBEAT_INTERVAL_MS,
      interval_ms: HEARTBEAT_INTERVAL_MS,
      async run() {
        tell(HEARTBEAT_TOPIC);
        if (isUncertain) {
          isUncertain = false;
          tell(MISSED_TOPIC);
          gap();
        }
        if (performance.now() - heardAt > SILENCE_TIMEOUT_MS) gap();
      },
    },
  );
  if (listens) {
    // So that a server that was alone publishes completions from now on.
    tell(HEARTBEAT_TOPIC);
    await beat.start();
  }
  return {
    publish: tell,
    hasPeers,
    subscribe(topic, hearer) {
      listeners.set(topic, [...(listeners.get(topic) ?? []), hearer]);
    },
    onMissed: (look) => void gapListeners.push(look),
    async stop() {
      stopped = true;
      await beat.stop();
      await telling;
      await listening?.stop();
    },
  };
}

/** Returns undefined for payloads not written by a server: any client of the database may NOTIFY this channel. */
function parsePayload(payload: string): string[][] | undefined {
  try {
    const [from, ...messages] = JSON.parse(payload) as [string, ...string[][]];
    return typeof from === "string" && messages.every(Array.isArray) ? messages : undefined;
  } catch {
    return undefined;
  }
}
