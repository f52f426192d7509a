/** Result stream of one run: masked and limited in size. */
import { MaskedText, type Secrets } from "./secrets.ts";

export class ResultStream {
  readonly #secrets: Secrets;
  readonly #tell: (text: string) => void;
  readonly #most: number;
  #bytes = 0;
  /** Created when there is something to mask. */
  #masked: MaskedText | undefined;

  /** Creates the stream of one run. @param limit limit in bytes */
  constructor(secrets: Secrets, tell: (text: string) => void, limit: number) {
    this.#secrets = secrets;
    this.#tell = tell;
    this.#most = limit;
  }

  /** Appends text to the stream. @returns false if the limit is exceeded; the text is then dropped */
  push(text: string): boolean {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#most) return false;
    if (this.#secrets.isEmpty) {
      this.#tell(text);
      return true;
    }
    this.#masked ??= new MaskedText(this.#secrets, this.#tell);
    this.#masked.push(text);
    return true;
  }

  /** Flushes text held back as a possible partial secret. */
  end(): void {
    this.#masked?.end();
  }
}
