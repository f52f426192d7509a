/**
 * The newest part of a growing text. Offsets count UTF-16 units from the start of the whole text. No returned offset
 * splits a surrogate pair.
 */

/** Stored text further from the end than this is dropped. */
const WINDOW_CHARACTERS = 262_144;
/** Small appends are merged into chunks of up to this size. */
const CHUNK_CHARACTERS = 4_096;

interface Chunk {
  /** Offset of its first character. */
  readonly at: number;
  text: string;
}

export class TextWindow {
  readonly #pieces: Chunk[] = [];
  #end = 0;
  /** A high surrogate whose low surrogate has not arrived yet. */
  #half = "";

  /** Length of the whole text. */
  get end(): number {
    return this.#end;
  }

  /**
   * Appends text. A trailing high surrogate waits for its low surrogate. Lone surrogates become U+FFFD, as does NUL,
   * which PostgreSQL cannot store.
   * @returns whether the text has grown
   */
  append(given: string): boolean {
    let text = this.#half === "" ? given : this.#half + given;
    this.#half = "";
    if (endsInHighSurrogate(text)) {
      this.#half = text.at(-1)!;
      text = text.slice(0, -1);
    }
    if (text === "") return false;
    this.#add(text.includes("\0") ? text.toWellFormed().replaceAll("\0", "\ufffd") : text.toWellFormed());
    return true;
  }

  /** Ends the text; a pending high surrogate becomes U+FFFD. */
  finish(): void {
    if (this.#half === "") return;
    this.#half = "";
    this.#add("\ufffd");
  }

  #add(text: string): void {
    const last = this.#pieces.at(-1);
    if (text.length > WINDOW_CHARACTERS) this.#addInParts(text);
    else if (last && last.text.length + text.length <= CHUNK_CHARACTERS) last.text += text;
    else this.#pieces.push({ at: this.#end, text });
    this.#end += text.length;
  }

  /** Copies each part: a slice would keep the whole string in memory. */
  #addInParts(text: string): void {
    for (let at = 0; at < text.length; ) {
      const part = truncateText(text.slice(at, at + WINDOW_CHARACTERS + 1), WINDOW_CHARACTERS);
      this.#pieces.push({ at: this.#end + at, text: Buffer.from(part).toString() });
      at += part.length;
    }
  }

  /**
   * Returns the text from an offset on, "" if there is none yet.
   * @param limit maximum length; one less where a surrogate pair would be split
   * @returns undefined if the offset is before the window
   */
  textFrom(offset: number, limit: number): string | undefined {
    if (offset >= this.#end) return "";
    let index = this.#pieces.length - 1;
    while (index > 0 && this.#pieces[index]!.at > offset) index--;
    const first = this.#pieces[index]!;
    if (first.at > offset) return undefined;
    let text = sliceTextFrom(first.text, offset - first.at);
    while (text.length < limit && ++index < this.#pieces.length) text += this.#pieces[index]!.text;
    return truncateText(text, limit);
  }

  /** Marks the text as stored up to `stored` and drops stored chunks outside the window. */
  release(stored: number): void {
    const keepFrom = Math.min(stored, this.#end - WINDOW_CHARACTERS);
    let gone = 0;
    while (gone < this.#pieces.length - 1 && this.#pieces[gone + 1]!.at <= keepFrom) gone++;
    this.#pieces.splice(0, gone);
  }
}

/** Returns the text from an index on; an index inside a surrogate pair moves to its start. */
export function sliceTextFrom(text: string, index: number): string {
  return text.slice(index > 0 && endsInHighSurrogate(text, index) ? index - 1 : index);
}

/** Truncates a text without splitting a surrogate pair. */
export function truncateText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, endsInHighSurrogate(text, limit) ? limit - 1 : limit);
}

/** Whether the first `length` units end in a high surrogate. */
function endsInHighSurrogate(text: string, length = text.length): boolean {
  return (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
}
