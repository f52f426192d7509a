/** A mail with a text and an HTML version. */
export interface MailMessage {
  subject: string;
  text: string;
  html: string;
  /** The Message-ID, if the mail may be sent twice; by default each mail gets a new one. */
  messageId?: string;
}

/** A paragraph to be copied, such as a password or an address. */
export interface CopyableLine {
  code: string;
}

export function createMailMessage(
  subject: string,
  paragraphs: readonly (string | CopyableLine)[],
): MailMessage {
  const text = paragraphs.map((part) => (typeof part === "string" ? part : `    ${part.code}`)).join("\n\n");
  const html = paragraphs
    .map((part) =>
      typeof part === "string"
        ? `<p>${escapeText(part).replaceAll("\n", "<br>")}</p>`
        : `<pre style="font-size:1.1em">${escapeText(part.code)}</pre>`,
    )
    .join("\n");
  return {
    // A subject must be one line (RFC 5322 §2.2).
    subject: subject.replace(/\s+/g, " ").slice(0, 200),
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en"><body style="font:16px/1.5 system-ui,sans-serif">\n${html}\n</body></html>\n`,
  };
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}
