/**
 * Creates state that belongs to one running app (a cache, a limiter): created on first use, garbage collected with the
 * app, never shared between apps of one process.
 */
export function memoizePerApp<A extends object, S>(make: (app: A) => S): (app: A) => S {
  const states = new WeakMap<A, S>();
  return (app) => {
    let state = states.get(app);
    if (state === undefined) {
      state = make(app);
      states.set(app, state);
    }
    return state;
  };
}
