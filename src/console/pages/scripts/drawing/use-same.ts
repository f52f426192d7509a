import { useRef } from "react";
import { isSame } from "../../../api/json.ts";

/** Returns the earlier value as long as it equals the given JSON value, so that what depends on it is not rendered. */
export function useSame<T>(value: T): T {
  const last = useRef(value);
  if (!isSame(last.current, value)) last.current = value;
  return last.current;
}
