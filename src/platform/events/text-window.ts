/**
 * The newest part of a text that grows. Offsets count UTF-16 units (what JSON and JavaScript call characters) from the
 * text's very beginning; none that is handed out lies inside a surrogate pair.
 */

/** Text that is stored is let go once it is further from the end than this. */
const WINDOW = 262_144;
/** Small pieces are put together up to this size, so that a text made letter by letter is no long list. */
const PIECE = 4_096;

interface Piece {
  /** Offset of its first character. */
  readonly at: number;
  text: string;
}

export class TextWindow {
  readonly #pieces: Piece[] = [];
  #end = 0;
  /** The first half of a surrogate pair, whose second half is still to come. */
  #half = "";

  /** Length of the whole text. */
  get end(): number {
    return this.#end;
  }

  /**
   * Half a pair at the end waits for its other half; one that has none, and NUL (which PostgreSQL stores in no text),
   * become U+FFFD.
   * @returns whether the text has grown
   */
  append(given: string): boolean {
    let text = this.#half === "" ? given : this.#half + given;
    this.#half = "";
    if (endsInHalf(text)) {
      this.#half = text.at(-1)!;
      text = text.slice(0, -1);
    }
    if (text === "") return false;
    this.#add(text.includes("\0") ? text.toWellFormed().replaceAll("\0", "\ufffd") : text.toWellFormed());
    return true;
  }

  /** Nothing more comes: half a pair will not become whole. */
  finish(): void {
    if (this.#half === "") return;
    this.#half = "";
    this.#add("\ufffd");
  }

  #add(text: string): void {
    const last = this.#pieces.at(-1);
    if (text.length > WINDOW) this.#addInParts(text);
    else if (last && last.text.length + text.length <= PIECE) last.text += text;
    else this.#pieces.push({ at: this.#end, text });
    this.#end += text.length;
  }

  /** Parts with a memory of their own: a slice would keep the whole in memory. */
  #addInParts(text: string): void {
    for (let at = 0; at < text.length; ) {
      const part = cut(text.slice(at, at + WINDOW + 1), WINDOW);
      this.#pieces.push({ at: this.#end + at, text: Buffer.from(part).toString() });
      at += part.length;
    }
  }

  /**
   * The text from an offset on, "" when there is none yet.
   * @param most characters, or one less where a pair would be cut
   * @returns undefined when it begins before what is kept here
   */
  from(offset: number, most: number): string | undefined {
    if (offset >= this.#end) return "";
    let index = this.#pieces.length - 1;
    while (index > 0 && this.#pieces[index]!.at > offset) index--;
    const first = this.#pieces[index]!;
    if (first.at > offset) return undefined;
    let text = sliceFrom(first.text, offset - first.at);
    while (text.length < most && ++index < this.#pieces.length) text += this.#pieces[index]!.text;
    return cut(text, most);
  }

  /** The text is stored up to here: what of it is far from the end is let go. */
  release(stored: number): void {
    const keepFrom = Math.min(stored, this.#end - WINDOW);
    let gone = 0;
    while (gone < this.#pieces.length - 1 && this.#pieces[gone + 1]!.at <= keepFrom) gone++;
    this.#pieces.splice(0, gone);
  }
}

/** From an index on; an index inside a surrogate pair means the pair's beginning. */
export function sliceFrom(text: string, index: number): string {
  return text.slice(index > 0 && endsInHalf(text, index) ? index - 1 : index);
}

/** The first characters of a text, whole pairs only. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, endsInHalf(text, most) ? most - 1 : most);
}

/** Whether the text up to `length` ends in the first half of a surrogate pair. */
function endsInHalf(text: string, length = text.length): boolean {
  return (text.charCodeAt(length - 1) & 0xfc00) === 0xd800;
}
