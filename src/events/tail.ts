/**
 * The log and the result stream of a job while it runs. Readers keep their own offset and are only woken: a slow one
 * costs a flag, not a buffer, and never holds up the job.
 */
export class JobTail {
  #log = "";
  #stream = "";
  #closed = false;
  readonly #readers = new Set<() => void>();

  appendLog(text: string): void {
    this.#log += text;
    this.#wake();
  }

  appendStream(text: string): void {
    this.#stream += text;
    this.#wake();
  }

  get log(): string {
    return this.#log;
  }

  get stream(): string {
    return this.#stream;
  }

  get closed(): boolean {
    return this.#closed;
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  /** Calls back at every change until stopped. */
  onChange(reader: () => void): () => void {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  #wake(): void {
    for (const reader of this.#readers) reader();
  }
}
