/** Edited but undeployed text, stored in the browser. */
export interface UnsavedText {
  text: string;
  /** The version that it is based on. */
  base: number;
  /** The text of that version. Text that equals it is not an edit. */
  begun: string;
}

type TextStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function readUnsavedText(storage: TextStorage, key: string): UnsavedText | undefined {
  try {
    const kept = JSON.parse(storage.getItem(key) ?? "null") as UnsavedText | null;
    return typeof kept?.text === "string" && typeof kept.base === "number" ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the edited text, given the previous one.
 * @param deployed the newest version, which is shown while there are no edits
 * @returns undefined without changes: then the newest version is shown
 */
export function updateUnsavedText(
  before: UnsavedText | undefined,
  deployed: { text: string; version: number },
  text: string,
): UnsavedText | undefined {
  const begun = before?.begun ?? deployed.text;
  return text === begun ? undefined : { text, base: before?.base ?? deployed.version, begun };
}

/** Stores the edited text, or removes it. @returns whether it was stored: storage may be full */
export function storeUnsavedText(storage: TextStorage, key: string, kept: UnsavedText | undefined): boolean {
  try {
    if (kept) storage.setItem(key, JSON.stringify(kept));
    else storage.removeItem(key);
    return true;
  } catch {
    return false;
  }
}
