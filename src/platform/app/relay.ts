/** Messages between the servers of one database; `cluster/bus.ts` implements it with NOTIFY of PostgreSQL. */
export interface ClusterBus {
  /**
   * Publishes a message to the other servers asynchronously. It never fails: it retries until the database accepts
   * the message.
   */
  publish(topic: string, ...words: string[]): void;
  /**
   * Whether another server may be listening. While none is, completions of jobs need not be published. Jobs that are
   * awaited elsewhere are polled too (runs/follow/remote-completions.ts).
   */
  hasPeers(): boolean;
  /** Subscribes to a topic's messages from other servers. */
  subscribe(topic: string, listener: (...words: string[]) => void): void;
  /** Subscribes to possible message loss; called again and again while it lasts. */
  onMissed(look: () => void): void;
  stop(): Promise<void>;
}
