/** Values that may have to be awaited. On the path of each job nothing waits that is there already: promises cost time. */

export type Awaitable<T> = T | PromiseLike<T>;

/** Whether a value has to be awaited: a promise, or a query of the builder. */
export function isPending<T>(value: Awaitable<T>): value is PromiseLike<T> {
  return typeof (value as PromiseLike<T> | undefined | null)?.then === "function";
}

/** Continues with a value: at once if it is there, else when it is. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPending(value) ? Promise.resolve(value).then(next) : next(value);
}
