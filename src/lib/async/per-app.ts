/**
 * State that one feature keeps for one running app (a cache, a limiter): made on first use, gone with the app, and
 * never shared between two apps of one process.
 */
export function perApp<A extends object, S>(make: (app: A) => S): (app: A) => S {
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
