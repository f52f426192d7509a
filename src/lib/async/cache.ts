/**
 * What is remembered in memory: a bounded number of values by name, for good or for some time. What is there is answered
 * at once, without a promise. Who asks for what is not there waits for the one look that is under way; what was forgotten
 * meanwhile is not remembered by it, and who asks from then on looks anew.
 */
export interface CacheOptions {
  /** Most entries: of more the oldest go. */
  max: number;
  /** How long an entry is good for, in milliseconds; left out where whoever changes something has it forgotten. */
  ttl_ms?: number | undefined;
  /** Milliseconds; asked for where entries have an end. */
  now?: (() => number) | undefined;
}

interface Entry<V> {
  value: V;
  until: number;
}

export class Cache<V> {
  readonly #entries = new Map<string, Entry<V>>();
  readonly #looking = new Map<string, Promise<V>>();
  readonly #max: number;
  readonly #ttl_ms: number;
  readonly #now: () => number;

  constructor({ max, ttl_ms = Infinity, now = () => 0 }: CacheOptions) {
    this.#max = max;
    this.#ttl_ms = ttl_ms;
    this.#now = now;
  }

  /** Undefined when nothing is known of it, or not any more. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry && (entry.until === Infinity || entry.until > this.#now()) ? entry.value : undefined;
  }

  /** @param ttl_ms where it is another one than that of all */
  set(key: string, value: V, ttl_ms: number = this.#ttl_ms): void {
    // Deleted first: what is stored last stands at the end.
    this.#entries.delete(key);
    if (this.#entries.size >= this.#max) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, { value, until: ttl_ms === Infinity ? Infinity : this.#now() + ttl_ms });
  }

  /**
   * Looks for what is not there, once for all who ask meanwhile, and remembers it.
   * @param ttl_ms of what was found, where not all are good for as long
   * @throws what `look` throws: that is not remembered
   */
  load(key: string, look: () => Promise<V>, ttl_ms?: (value: V) => number): Promise<V> {
    const known = this.#looking.get(key);
    if (known) return known;
    const looking = look().then(
      (value) => {
        if (this.#done(key, looking)) this.set(key, value, ttl_ms?.(value));
        return value;
      },
      (cause) => {
        this.#done(key, looking);
        throw cause;
      },
    );
    this.#looking.set(key, looking);
    return looking;
  }

  /** @returns false when something was forgotten since it began */
  #done(key: string, looking: Promise<V>): boolean {
    if (this.#looking.get(key) !== looking) return false;
    return this.#looking.delete(key);
  }

  delete(key: string): void {
    this.#looking.clear();
    this.#entries.delete(key);
  }

  /** Forgets all that are as `test` says. */
  deleteWhere(test: (key: string, value: V) => boolean): void {
    this.#looking.clear();
    for (const [key, { value }] of this.#entries) if (test(key, value)) this.#entries.delete(key);
  }

  clear(): void {
    this.#looking.clear();
    this.#entries.clear();
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }
}
