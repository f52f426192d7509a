/**
 * In-memory cache: a bounded number of values by key, optionally with a TTL. Hits are synchronous. Concurrent misses
 * share one load; a load that overlaps an invalidation is not cached, and later callers load again.
 */
export interface CacheOptions<V> {
  /** Maximum weight of all entries together; the least recently used are evicted. */
  max: number;
  /** Weight of an entry; 1 if left out, so that `max` is their number. */
  weigh?: ((key: string, value: V) => number) | undefined;
  /** Lifetime of an entry in milliseconds; omit it if every change invalidates the entry. */
  ttl_ms?: number | undefined;
  /** Current time in milliseconds; needed for a TTL. */
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
  readonly #weigh: (key: string, value: V) => number;
  #weight = 0;
  readonly #ttl_ms: number;
  readonly #now: () => number;

  constructor({ max, weigh = () => 1, ttl_ms = Infinity, now = () => 0 }: CacheOptions<V>) {
    this.#max = max;
    this.#weigh = weigh;
    this.#ttl_ms = ttl_ms;
    this.#now = now;
  }

  /** Returns the value; undefined if it is absent or expired. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry || (entry.until !== Infinity && entry.until <= this.#now())) return undefined;
    // Reinserting moves the key to the end of the insertion order. With few entries none is evicted soon.
    if (2 * this.#weight > this.#max) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry.value;
  }

  /** Caches a value. @param ttl_ms overrides the cache's TTL */
  set(key: string, value: V, ttl_ms: number = this.#ttl_ms): void {
    this.#remove(key);
    const weight = this.#weigh(key, value);
    // It would evict all others, and then itself.
    if (weight > this.#max) return;
    this.#entries.set(key, { value, until: ttl_ms === Infinity ? Infinity : this.#now() + ttl_ms });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#max) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= this.#weigh(key, entry.value);
  }

  /**
   * Loads a missing value, once for all concurrent callers, and caches it.
   * @param ttl_ms TTL by value, if it varies
   * @throws errors of `look`, which are not cached
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

  /** Ends a load of a value. @returns false if something was invalidated since the load began */
  #done(key: string, looking: Promise<V>): boolean {
    if (this.#looking.get(key) !== looking) return false;
    return this.#looking.delete(key);
  }

  delete(key: string): void {
    this.#looking.clear();
    this.#remove(key);
  }

  /** Deletes all entries that match `test`. */
  deleteWhere(test: (key: string, value: V) => boolean): void {
    this.#looking.clear();
    for (const [key, { value }] of this.#entries) if (test(key, value)) this.#remove(key);
  }

  clear(): void {
    this.#looking.clear();
    this.#entries.clear();
    this.#weight = 0;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }
}
