/** What the servers of one database tell each other; `cluster/bus.ts` does it by NOTIFY of PostgreSQL. */
export interface Relay {
  /** Tells the other servers soon. Never fails: what cannot be told now is told as soon as it can. */
  tell(topic: string, ...words: string[]): void;
  /** Calls back for what another server tells. */
  on(topic: string, hear: (...words: string[]) => void): void;
  /** Calls back when something may have been missed, and again and again while that lasts. */
  onGap(look: () => void): void;
  stop(): Promise<void>;
}
