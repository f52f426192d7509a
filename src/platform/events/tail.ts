import { TextWindow } from "./text-window.ts";

/**
 * The log and the result stream of a job while it runs here. Of each only what is not stored yet and a window at the
 * end is kept: a reader that is further behind reads the database. Readers keep their own offsets and are only woken: a
 * slow one costs a flag, not a buffer, and never holds up the job.
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

  /** The job says nothing more. */
  finish(): void {
    this.log.finish();
    this.stream.finish();
  }
}
