/**
 * Collections of objects that stay for a moment, such as running jobs. When a Map or a Set of JavaScriptCore is
 * rebuilt, as adding and deleting causes all the time, its former table refers to the new one and keeps the elements it
 * had. A former table that was in use during a collection of new objects counts as old, and keeps all later tables and
 * their elements, dead or not, until the next collection of the whole heap. On a busy server that was most of the
 * garbage.
 */

/** A map by texts that are no array indexes, such as ids. */
export class TransientMap<T> {
  readonly #values: Record<string, T | undefined> = Object.create(null);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): T | undefined {
    return this.#values[key];
  }

  has(key: string): boolean {
    return this.#values[key] !== undefined;
  }

  set(key: string, value: T): void {
    if (this.#values[key] === undefined) this.#size++;
    this.#values[key] = value;
  }

  /** @returns whether it had the key */
  delete(key: string): boolean {
    if (this.#values[key] === undefined) return false;
    delete this.#values[key];
    this.#size--;
    return true;
  }

  /** Returns the keys as they are now. */
  keys(): string[] {
    return Object.keys(this.#values);
  }

  /** Returns the values as they are now. */
  values(): T[] {
    return Object.values(this.#values) as T[];
  }
}

/** An element of a TransientSet, which sets its index. Initially -1. */
export interface Indexed {
  index: number;
}

/** A set of objects, each of which is in at most one such set. */
export class TransientSet<T extends Indexed> {
  readonly #elements: T[] = [];

  get size(): number {
    return this.#elements.length;
  }

  add(element: T): void {
    if (element.index >= 0) return;
    element.index = this.#elements.length;
    this.#elements.push(element);
  }

  /** Does nothing if the element is in no set. */
  delete(element: T): void {
    if (element.index < 0) return;
    const last = this.#elements.pop()!;
    if (last !== element) {
      this.#elements[element.index] = last;
      last.index = element.index;
    }
    element.index = -1;
  }

  /** Returns the elements as they are now. */
  values(): T[] {
    return this.#elements.slice();
  }
}
