import { useEffect, useState } from "react";

/** Duration of a pause in typing. */
const DEBOUNCE_MS = 500;

/** Returns a value after it has not changed for a while (debouncing). */
export function useDebounced<T>(value: T, ms = DEBOUNCE_MS): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return quiet;
}
