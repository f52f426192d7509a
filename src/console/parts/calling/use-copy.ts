import { useEffect, useState } from "react";
import { notifyError } from "../elements/Problem.tsx";
import { copyText } from "./clipboard.ts";

const SHOWN_MS = 1_000;

/** Copies a text and confirms it briefly. @param text a function if computing it takes a while */
export function useCopy(text: string | (() => string)) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    void copyText(typeof text === "string" ? text : text()).then(() => setCopied(true), notifyError);
  return { isCopied, copy };
}
