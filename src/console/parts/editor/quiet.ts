import { useEffect, useState } from "react";

/** Waits until nothing was typed for so long. */
const QUIET_MS = 500;

/** Returns a value once it has been the same for a while. */
export function useQuiet<T>(value: T, ms = QUIET_MS): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return quiet;
}
