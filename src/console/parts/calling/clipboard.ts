/** The clipboard. Over plain HTTP browsers give none: there texts are copied by an older way, and pasted from memory. */

/** What was copied in this page last. */
let copied: string | undefined;

const given = (): Clipboard | undefined => navigator.clipboard as Clipboard | undefined;

/** @throws Error where the browser refuses */
export async function copyText(text: string): Promise<void> {
  copied = text;
  const clipboard = given();
  if (clipboard) await clipboard.writeText(text);
  else copyBySelection(text);
}

/** What was copied, in another program too where the browser tells it. @throws Error where the browser refuses */
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
  if (!isDone) throw new Error("The browser lets no page copy over plain HTTP: select the text and copy it.");
}
