/**
 * Masks secrets in script output. A child knows the secrets that its jobs have read. Each output (pipe or result
 * stream) passes through a `MaskedText`, which masks secrets even if they arrive in several chunks.
 *
 * Every character that belongs to any secret is masked, and adjacent ones share one mask, so the shown text does not
 * depend on chunk boundaries.
 */

import { listPrintedForms } from "./printed-forms.ts";

/** Replaces a secret of any length. */
const MASK = "*****";

/** Shorter secrets are not masked: it would garble logs and protect nothing. */
const MIN_SECRET_LENGTH = 3;
/** Longer secrets are matched in parts, which bounds the text held back and compared. */
const MAX_PATTERN_LENGTH = 16_384;
/** Patterns after which a child is not reused, since all output is searched for each one. */
const MAX_PATTERNS = 2_000;

/** Delay after which a partial match (such as a prompt) is shown if nothing follows. */
const PROMPT_DELAY_MS = 100;
/** Limits of a partial match that may be shown: characters, and share of the secret. */
const MAX_SHOWN_CHARACTERS = 4;
const SHOWN_SHARE = 1 / 4;

/** Characters from `start` (inclusive) to `stop` (exclusive). */
interface Span {
  start: number;
  stop: number;
}

/** Secrets known to one child, for its whole life. */
export class Secrets {
  readonly #texts = new Set<string>();
  #token = "";

  get isEmpty(): boolean {
    return this.#texts.size === 0 && this.#token === "";
  }

  /** Token of the current job; replaces the previous job's. */
  get token(): string {
    return this.#token;
  }

  set token(token: string) {
    this.#token = token;
  }

  /** Masks the job's token in a result. */
  maskToken(text: string): string {
    return this.#token === "" ? text : text.replaceAll(this.#token, MASK);
  }

  *#all(): Generator<string> {
    yield* this.#texts;
    if (this.#token !== "") yield this.#token;
  }

  get isFull(): boolean {
    return this.#texts.size > MAX_PATTERNS;
  }

  add(secret: string): void {
    for (const form of listPrintedForms(secret)) {
      for (let at = 0; at < form.length; at += MAX_PATTERN_LENGTH) {
        const piece = form.slice(at, at + MAX_PATTERN_LENGTH);
        if (piece.length >= MIN_SECRET_LENGTH) this.#texts.add(piece);
      }
    }
  }

  /** Finds all secrets in a text, in order. */
  find(text: string): Span[] {
    const spans: Span[] = [];
    for (const secret of this.#all()) {
      for (let start = text.indexOf(secret); start >= 0; ) {
        const stop = endOfRun(text, secret, start + secret.length);
        spans.push({ start, stop });
        start = text.indexOf(secret, stop);
      }
    }
    return mergeSpans(spans);
  }

  /** Masks secrets in all texts of a value. */
  maskValue<T>(value: T): T {
    if (this.isEmpty) return value;
    if (typeof value === "string") return this.#masked(value) as T;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((inner) => this.maskValue(inner)) as T;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.maskValue(inner)]),
    ) as T;
  }

  #masked(text: string): string {
    let shown = "";
    let from = 0;
    for (const { start, stop } of this.find(text)) {
      shown += text.slice(from, start) + MASK;
      from = stop;
    }
    return shown + text.slice(from);
  }

  /**
   * Returns the length of a possible partial secret at the text's end. It is harmless if it reveals almost nothing of
   * any secret.
   */
  partialMatch(text: string): { length: number; harmless: boolean } {
    let longest = 0;
    let harmless = true;
    for (const secret of this.#all()) {
      const length = computeOverlapLength(text, secret);
      if (length > longest) longest = length;
      if (length > Math.min(MAX_SHOWN_CHARACTERS, secret.length * SHOWN_SHARE)) harmless = false;
    }
    return { length: longest, harmless };
  }
}

/** Returns the end of a run of adjacent or overlapping occurrences, of which the first ends at `stop`. */
function endOfRun(text: string, secret: string, stop: number): number {
  for (let end = stop; ; ) {
    const next = text.lastIndexOf(secret, end) + secret.length;
    if (next <= end) return end;
    end = next;
  }
}

/** Merges spans that overlap or touch. */
function mergeSpans(spans: Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last && span.start <= last.stop) last.stop = Math.max(last.stop, span.stop);
    else apart.push(span);
  }
  return apart;
}

/** Returns the length of the longest suffix of `text` that is a proper prefix of `secret`. */
function computeOverlapLength(text: string, secret: string): number {
  const first = secret[0]!;
  let at = text.indexOf(first, Math.max(0, text.length - secret.length + 1));
  while (at >= 0 && !secret.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
  return at < 0 ? 0 : text.length - at;
}

/** Text on its way to the output. A possible partial secret is held back until it is resolved. */
export class MaskedText {
  readonly #secrets: Secrets;
  readonly #show: (text: string) => void;
  /** End of the text: the text held back, and the context needed to recognise the beginning of a secret. */
  #tail = "";
  /** Characters of the tail already shown. */
  #shown = 0;
  /** Characters at the start of the tail that belong to a secret which began before it. */
  #covered = 0;
  /** Whether the last text shown is a mask. */
  #masked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(secrets: Secrets, show: (text: string) => void) {
    this.#secrets = secrets;
    this.#show = show;
  }

  push(text: string): void {
    clearTimeout(this.#timer);
    this.#tail += text;
    const { length, harmless } = this.#secrets.partialMatch(this.#tail);
    const settled = this.#tail.length - length;
    const spans = this.#spans();
    this.#showTo(settled, spans);
    this.#forget(settled, spans);
    if (harmless && this.#shown < this.#tail.length) {
      this.#timer = setTimeout(() => this.#showTo(this.#tail.length, this.#spans()), PROMPT_DELAY_MS);
    }
  }

  /** Ends the text: the text held back contains no secret. */
  end(): void {
    clearTimeout(this.#timer);
    this.#showTo(this.#tail.length, this.#spans());
    this.#tail = "";
    this.#shown = 0;
    this.#covered = 0;
    this.#masked = false;
  }

  #spans(): Span[] {
    const found = this.#secrets.find(this.#tail);
    return this.#covered === 0 ? found : mergeSpans([{ start: 0, stop: this.#covered }, ...found]);
  }

  /** Shows the first `end` characters of the tail that are not shown yet. */
  #showTo(end: number, spans: Span[]): void {
    let text = "";
    const plainTo = (to: number) => {
      if (to <= this.#shown) return;
      text += this.#tail.slice(this.#shown, to);
      this.#shown = to;
      this.#masked = false;
    };
    for (const { start, stop } of spans) {
      plainTo(Math.min(start, end));
      const to = Math.min(stop, end);
      if (to <= this.#shown) continue;
      if (!this.#masked) text += MASK;
      this.#masked = true;
      this.#shown = to;
    }
    plainTo(end);
    if (text !== "") this.#show(text);
  }

  /** Drops the tail's first characters, which have been shown. */
  #forget(count: number, spans: Span[]): void {
    const across = spans.find(({ start, stop }) => start < count && count < stop);
    if (count > 0) this.#covered = across ? across.stop - count : 0;
    this.#shown -= count;
    this.#tail = this.#tail.slice(count);
  }
}
