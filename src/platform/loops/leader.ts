/** Leader among the servers that share a database. A server with a database of its own always leads. */
export interface Leader {
  isLeader(): boolean;
  /** Wakes a task of the leader, on whichever server leads. Best effort: the task's interval bounds the delay. */
  wake(task: string): void;
  /** Subscribes to wake-ups of the task and to this server's election; undefined unsubscribes. */
  onWake(task: string, run: ((reason: "woken" | "elected") => void) | undefined): void;
}
