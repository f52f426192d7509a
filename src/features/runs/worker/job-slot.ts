/** The slot of the worker that a job occupies, as the code that runs the job uses it. */
export interface JobSlot {
  /**
   * Lets other jobs use the slot while the job waits for a compiler or a package client.
   * @returns a function to call once, when the wait has ended
   */
  yield(): () => void;
  /** Gives the slot back for good. To be called once, when none of the job's code runs any more. */
  end(): void;
}
