import { useRef } from "react";
import { isEqualJson } from "../../../api/json.ts";

/**
 * Returns the same object as before while the JSON value is equal, so that dependent components are not rendered again.
 */
export function useStableValue<T>(value: T): T {
  const last = useRef(value);
  if (!isEqualJson(last.current, value)) last.current = value;
  return last.current;
}
