/**
 * A value or a promise of it. Values that are available already are not awaited on the hot path, because promises
 * cost time.
 */

export type Awaitable<T> = T | PromiseLike<T>;

/** Whether a value must be awaited: a promise, or a query of the builder. */
export function isPending<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined | null)?.then === "function";
}

/** Continues with a value: synchronously if it is available, otherwise after awaiting it. */
export function continueWith<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPending(value) ? Promise.resolve(value).then(next) : next(value);
}
