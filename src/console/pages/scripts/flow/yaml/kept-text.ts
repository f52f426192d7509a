/** What somebody typed and did not deploy, kept in the browser. */
export interface KeptText {
  text: string;
  /** The version it was begun from. */
  base: number;
  /** The text of that version: who types it again has changed nothing. */
  begun: string;
}

type TextStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function readKept(storage: TextStorage, key: string): KeptText | undefined {
  try {
    const kept = JSON.parse(storage.getItem(key) ?? "null") as KeptText | null;
    return typeof kept?.text === "string" && typeof kept.base === "number" ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns what is typed now, given what was typed before.
 * @param deployed the newest version, which is shown while nothing is typed
 * @returns undefined when nothing is changed: then the newest version is shown
 */
export function typed(
  before: KeptText | undefined,
  deployed: { text: string; version: number },
  text: string,
): KeptText | undefined {
  const begun = before?.begun ?? deployed.text;
  return text === begun ? undefined : { text, base: before?.base ?? deployed.version, begun };
}

/** Keeps what is typed, or removes it. @returns whether it is kept: storage may be full */
export function keepText(storage: TextStorage, key: string, kept: KeptText | undefined): boolean {
  try {
    if (kept) storage.setItem(key, JSON.stringify(kept));
    else storage.removeItem(key);
    return true;
  } catch {
    return false;
  }
}
