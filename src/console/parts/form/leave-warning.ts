import { type RefObject, useEffect, useRef } from "react";

/**
 * Lets the browser ask before a reload or a closed tab discards what was typed and not saved.
 * @returns ref of an element in the form, or around its fields
 */
export function useLeaveWarning<T extends HTMLElement>(): RefObject<T | null> {
  const element = useRef<T>(null);
  useEffect(() => {
    const fields = element.current?.closest("form") ?? element.current;
    let isTyped = false;
    const note = () => {
      isTyped = true;
    };
    const warn = (event: BeforeUnloadEvent) => {
      if (isTyped) event.preventDefault();
    };
    fields?.addEventListener("input", note);
    window.addEventListener("beforeunload", warn);
    return () => {
      fields?.removeEventListener("input", note);
      window.removeEventListener("beforeunload", warn);
    };
  }, []);
  return element;
}
