/** Of the servers that share a database one leads; a server that has its database for itself always does. */
export interface Leader {
  isLeader(): boolean;
  /** Wakes a task of the leader, on whichever server that is. Best effort: its interval bounds how late it can be. */
  wake(task: string): void;
  /** Calls back when the task is woken, and when this server becomes the leader; undefined: no longer. */
  onWake(task: string, run: ((reason: "woken" | "elected") => void) | undefined): void;
}
