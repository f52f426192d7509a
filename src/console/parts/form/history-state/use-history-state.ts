/** Keeps the values of a form in the browser's history, so that they survive a reload and going back. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { isRecord } from "../../../api/json.ts";
import { whoamiQuery } from "../../../api/session.ts";
import { useWorkspace } from "../../navigation/places.ts";
import { getKnownResourceTypes } from "../resource-types.ts";
import { omitSecretsAndFiles } from "./secret-fields.ts";

/** In the state of an entry of the browser's history: no address and no list of visited pages shows it. */
const FIELD = "svc-form";
const KEEP_AFTER_MS = 300;

type Values = Record<string, unknown>;

interface Kept {
  form: string;
  /** Path of the page, which names what the form is for. */
  page: string;
  by: string;
  values: Values;
}

function readKept(form: string, by: string | undefined): Values | undefined {
  const state: unknown = history.state;
  const kept = isRecord(state) ? (state[FIELD] as Kept | undefined) : undefined;
  if (!kept || by === undefined) return undefined;
  return kept.form === form && kept.by === by && kept.page === location.pathname ? kept.values : undefined;
}

function writeKept(kept: Kept): void {
  // The form is still shown while the next page is loaded, whose entry is another.
  if (kept.page !== location.pathname) return;
  try {
    history.replaceState({ ...(isRecord(history.state) ? history.state : {}), [FIELD]: kept }, "");
  } catch {
    // Browsers limit how much an entry holds: then a reload loses the values, as it would without.
  }
}

/**
 * Holds the values of a form in the entry of the browser's history that shows it. Secrets and files are not kept.
 * @param form distinguishes it from others that a page shows
 * @param initial what it begins with, if nothing is kept
 * @returns the values, their setter, and what keeps them at once, before the page is left
 */
export function useHistoryState(form: string, schema: unknown, initial: () => Values) {
  const by = useQuery(whoamiQuery).data?.email;
  const [values, setValues] = useState(() => readKept(form, by) ?? initial());
  const [page] = useState(() => location.pathname);
  const unkept = useRef<Values>(undefined);
  const workspace = useWorkspace();
  const keep = useCallback(() => {
    if (unkept.current && by !== undefined) {
      const kept = omitSecretsAndFiles(schema, unkept.current, getKnownResourceTypes(workspace));
      writeKept({ form, page, by, values: kept });
    }
    unkept.current = undefined;
  }, [form, page, by, schema, workspace]);
  const change = useCallback((next: Values) => {
    unkept.current = next;
    setValues(next);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change is kept after a while
  useEffect(() => {
    const timer = setTimeout(keep, KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [keep, values]);
  useEffect(() => {
    // A click elsewhere may leave the page; once it is being left, entries are changed no more.
    document.addEventListener("focusout", keep);
    document.addEventListener("visibilitychange", keep);
    window.addEventListener("beforeunload", keep);
    return () => {
      document.removeEventListener("focusout", keep);
      document.removeEventListener("visibilitychange", keep);
      window.removeEventListener("beforeunload", keep);
    };
  }, [keep]);
  return [values, change, keep] as const;
}
