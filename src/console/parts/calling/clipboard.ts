/**
 * Clipboard access. Browsers do not offer it over plain HTTP; there texts are copied with `execCommand`, and pasted
 * from memory.
 */

/** The text last copied in this page. */
let copied: string | undefined;

const given = (): Clipboard | undefined => navigator.clipboard as Clipboard | undefined;

/** Copies a text to the clipboard, or to memory where there is no clipboard. @throws Error if the browser refuses */
export async function copyText(text: string): Promise<void> {
  copied = text;
  const clipboard = given();
  if (clipboard) await clipboard.writeText(text);
  else copyBySelection(text);
}

/** Returns the copied text, also of other programs if the browser allows it. @throws Error if the browser refuses */
export async function pasteText(): Promise<string> {
  return (await given()?.readText()) ?? copied ?? "";
}

function copyBySelection(text: string): void {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "offscreen";
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isDone)
    throw new Error("Browsers do not let pages copy over plain HTTP: select the text and copy it.");
}
