import { useEffect, useRef } from "react";
import { isEqualJson, parseJson, writeJson } from "../../api/json.ts";
import { guardLeaving } from "../../api/leaving.ts";

/** Events that come before users change anything. */
const INTERACTIONS = ["pointerdown", "keydown", "input"];

/** Returns the values as they would be saved: without empty fields. */
const asSaved = (values: unknown): unknown => parseJson(writeJson(values));

/**
 * Asks before a reload, a closed tab, a link or the Back button discards values of a form that are not saved.
 * @param values of all fields, JSON. What they are before the user does anything, such as defaults, is nothing to lose.
 * @param late values of fields that are loaded after the form, undefined until then: what they are first is nothing to
 *   lose either, whatever the user did meanwhile
 */
export function useLeaveWarning(values: unknown, late?: unknown): void {
  const current = useRef({ values, late });
  const first = useRef({ values, late });
  const isTouched = useRef(false);
  useEffect(() => {
    current.current = { values, late };
    if (!isTouched.current) first.current = { values, late };
    else first.current.late ??= late;
  });
  useEffect(() => {
    const touch = () => {
      isTouched.current = true;
    };
    const isUnsaved = () => !isEqualJson(asSaved(first.current), asSaved(current.current));
    const warn = (event: BeforeUnloadEvent) => {
      if (isUnsaved()) event.preventDefault();
    };
    const unguard = guardLeaving(isUnsaved);
    for (const name of INTERACTIONS) document.addEventListener(name, touch, true);
    window.addEventListener("beforeunload", warn);
    return () => {
      unguard();
      for (const name of INTERACTIONS) document.removeEventListener(name, touch, true);
      window.removeEventListener("beforeunload", warn);
    };
  }, []);
}
