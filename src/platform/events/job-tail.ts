import { TextWindow } from "./text-window.ts";

/**
 * Log and result stream of a job while it runs here. Only unstored text and a window at the end are kept; readers
 * further behind read the database. Readers keep their own offsets and are only woken, so a slow reader needs no buffer
 * and never blocks the job.
 */
export class JobTail {
  readonly log = new TextWindow();
  readonly stream = new TextWindow();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  appendLog(text: string): void {
    if (this.log.append(text)) this.#changed();
  }

  appendStream(text: string): void {
    if (this.stream.append(text)) this.#changed();
  }

  /** Marks the output as complete. */
  finish(): void {
    this.log.finish();
    this.stream.finish();
  }
}
