/** A mail's words, once as text and once as HTML. */
export interface Letter {
  subject: string;
  text: string;
  html: string;
  /** The Message-ID, where a mail may be sent twice; left out, each mail gets one of its own. */
  messageId?: string;
}

/** What a paragraph may be beside words: a line to be copied, such as a password or an address. */
export interface Line {
  code: string;
}

export function letter(subject: string, paragraphs: readonly (string | Line)[]): Letter {
  const text = paragraphs.map((part) => (typeof part === "string" ? part : `    ${part.code}`)).join("\n\n");
  const html = paragraphs
    .map((part) =>
      typeof part === "string"
        ? `<p>${escaped(part).replaceAll("\n", "<br>")}</p>`
        : `<pre style="font-size:1.1em">${escaped(part.code)}</pre>`,
    )
    .join("\n");
  return {
    // A subject is one line (RFC 5322 §2.2).
    subject: subject.replace(/\s+/g, " ").slice(0, 200),
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en"><body style="font:16px/1.5 system-ui,sans-serif">\n${html}\n</body></html>\n`,
  };
}

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}
