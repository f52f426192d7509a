import { TextWindow } from "./text-window.ts";

/**
 * Log and result stream of a job while it runs here. Only unstored text and a window at the end are kept; readers
 * further behind read the database. Readers keep their own offsets and are only woken, so a slow reader needs no buffer
 * and never blocks the job. Most jobs write nothing and have no reader: the texts are created when first used.
 */
export class JobTail {
  readonly #changed: () => void;
  readonly #header: () => string;
  #log: TextWindow | undefined;
  #header_length = 0;
  #stream: TextWindow | undefined;

  /**
   * @param changed called when a text has grown
   * @param header returns the beginning of the log
   */
  constructor(changed: () => void, header: () => string) {
    this.#changed = changed;
    this.#header = header;
  }

  get log(): TextWindow {
    if (this.#log) return this.#log;
    this.#log = new TextWindow();
    this.#log.append(this.#header());
    this.#header_length = this.#log.end;
    return this.#log;
  }

  get stream(): TextWindow {
    this.#stream ??= new TextWindow();
    return this.#stream;
  }

  /** Length of the log with its header; 0 if nothing follows the header. */
  get log_length(): number {
    return this.#log && this.#log.end > this.#header_length ? this.#log.end : 0;
  }

  get stream_length(): number {
    return this.#stream?.end ?? 0;
  }

  appendLog(text: string): void {
    if (this.log.append(text)) this.#changed();
  }

  appendStream(text: string): void {
    if (this.stream.append(text)) this.#changed();
  }

  /** Marks the output as complete. */
  finish(): void {
    this.#log?.finish();
    this.#stream?.finish();
  }
}
