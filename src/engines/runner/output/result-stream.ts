/** The result stream of one run: what is secret in it is masked, and it has an end. */
import { MaskedText, type Secrets } from "./secrets.ts";

export class ResultStream {
  readonly #secrets: Secrets;
  readonly #tell: (text: string) => void;
  readonly #most: number;
  #bytes = 0;
  /** Made when there is something to mask. */
  #masked: MaskedText | undefined;

  /** @param most bytes */
  constructor(secrets: Secrets, tell: (text: string) => void, most: number) {
    this.#secrets = secrets;
    this.#tell = tell;
    this.#most = most;
  }

  /** @returns false when there is more of it than is allowed: then nothing of this is told */
  push(text: string): boolean {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#most) return false;
    if (this.#secrets.none) {
      this.#tell(text);
      return true;
    }
    this.#masked ??= new MaskedText(this.#secrets, this.#tell);
    this.#masked.push(text);
    return true;
  }

  /** Tells what was held back for the rest of a secret. */
  end(): void {
    this.#masked?.end();
  }
}
