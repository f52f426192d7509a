/** Runs work under the same key sequentially, and under different keys concurrently. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs the work after all earlier work under any of the names has ended. */
  async run<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const before = Promise.all(names.map((name) => this.#tails.get(name)));
    const turn = before.then(work);
    const tail = turn.catch(() => {});
    for (const name of names) this.#tails.set(name, tail);
    try {
      return await turn;
    } finally {
      for (const name of names) if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}
