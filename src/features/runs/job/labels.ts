import { parseJson } from "../../../lib/json/json.ts";

/** Parses the labels (`wm_labels`) that a result gives its job. @param result JSON text */
export function parseLabels(result: string): string[] | null {
  if (!result.startsWith("{") || !result.includes('"wm_labels"')) return null;
  const labels = (parseJson(result) as { wm_labels?: unknown }).wm_labels;
  const isList = Array.isArray(labels) && labels.every((label) => typeof label === "string");
  return isList ? [...new Set(labels)] : null;
}
