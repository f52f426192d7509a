/** Links to a prefilled run form. Arguments are in the fragment, which browsers do not send to servers. */
import { parseJson, writeJson } from "../../../api/json.ts";

export function parseSharedLink(): Record<string, unknown> | undefined {
  const text = new URLSearchParams(location.hash.slice(1)).get("args");
  if (text === null) return undefined;
  try {
    const value = parseJson(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export function createSharedLink(args: Record<string, unknown>): string {
  return `${location.origin}${location.pathname}#${new URLSearchParams({ args: writeJson(args) })}`;
}
