/**
 * Secrets in what a script prints. A child knows the secrets its jobs have read; each place of output (a pipe, the
 * result stream) shows text through a `MaskedText`, which puts a mask in their place, also where they come in pieces.
 *
 * Every character that is part of any secret is masked, and neighbouring ones share one mask, so that what is shown
 * does not depend on how the text was cut.
 */

/** Stands for a secret, whatever its length. */
const MASK = "*****";

/** A shorter secret would mask half of every log and hides nothing. */
const SHORTEST = 3;
/** A shorter line of a secret (a brace, a number) says nothing of it. */
const SHORTEST_LINE = 8;
const MAX_LINES = 1_000;
/** Longer texts are known in pieces: what is kept back, and compared over and over, has a bound. */
const PIECE = 16_384;
/** Each known text is looked for in all output: a child that knows more is not used again. */
const CROWDED = 2_000;

/** A text that ends like a secret begins (a prompt) is shown after this, if nothing follows. */
const PAUSE_MS = 100;
/** Most characters of a beginning that may be shown so, and the share of the secret they may be. */
const MAX_SHOWN = 4;
const SHOWN_SHARE = 1 / 4;

/** Characters from `start` up to, and without, `stop`. */
interface Span {
  start: number;
  stop: number;
}

/** What is known to be secret in one child, for as long as it lives. */
export class Secrets {
  readonly #texts = new Set<string>();
  #token = "";

  get none(): boolean {
    return this.#texts.size === 0 && this.#token === "";
  }

  /** The token of the job that begins, in the place of the one of the job before. */
  set token(token: string) {
    this.#token = token;
  }

  /** The same text of a result, without the job's token. */
  withoutToken(text: string): string {
    return this.#token === "" ? text : text.replaceAll(this.#token, MASK);
  }

  *#all(): Generator<string> {
    yield* this.#texts;
    if (this.#token !== "") yield this.#token;
  }

  get crowded(): boolean {
    return this.#texts.size > CROWDED;
  }

  add(secret: string): void {
    for (const form of formsOf(secret)) {
      for (let at = 0; at < form.length; at += PIECE) {
        const piece = form.slice(at, at + PIECE);
        if (piece.length >= SHORTEST) this.#texts.add(piece);
      }
    }
  }

  /** Where secrets stand in the text, in order. */
  find(text: string): Span[] {
    const spans: Span[] = [];
    for (const secret of this.#all()) {
      for (let start = text.indexOf(secret); start >= 0; ) {
        const stop = endOfRun(text, secret, start + secret.length);
        spans.push({ start, stop });
        start = text.indexOf(secret, stop);
      }
    }
    return joined(spans);
  }

  /** The same value with all secrets in its texts masked. */
  maskedIn<T>(value: T): T {
    if (this.none) return value;
    if (typeof value === "string") return this.#masked(value) as T;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((inner) => this.maskedIn(inner)) as T;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.maskedIn(inner)]),
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
   * How many characters at the text's end may be the beginning of a secret. They are harmless when they give next to
   * nothing of any secret away.
   */
  begun(text: string): { length: number; harmless: boolean } {
    let longest = 0;
    let harmless = true;
    for (const secret of this.#all()) {
      const length = overlap(text, secret);
      if (length > longest) longest = length;
      if (length > Math.min(MAX_SHOWN, secret.length * SHOWN_SHARE)) harmless = false;
    }
    return { length: longest, harmless };
  }
}

/** Where the last of the occurrences ends that follow one another from the one that ends at `stop`, or overlap. */
function endOfRun(text: string, secret: string, stop: number): number {
  for (let end = stop; ; ) {
    const next = text.lastIndexOf(secret, end) + secret.length;
    if (next <= end) return end;
    end = next;
  }
}

/** One span for those that overlap or touch. */
function joined(spans: Span[]): Span[] {
  const apart: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = apart.at(-1);
    if (last && span.start <= last.stop) last.stop = Math.max(last.stop, span.stop);
    else apart.push(span);
  }
  return apart;
}

/** The ways a secret is printed: as it is, trimmed, line by line, and each of these inside JSON. */
function* formsOf(secret: string): Generator<string> {
  const lines = secret.split("\n").map((line) => line.trim());
  const long = lines.filter((line) => line.length >= SHORTEST_LINE).slice(0, MAX_LINES);
  for (const text of [secret, secret.trim(), ...long]) {
    const json = JSON.stringify(text).slice(1, -1);
    yield text;
    yield json;
    // As Python's json writes it.
    yield json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    // What is printed loses its NULs.
    yield text.replaceAll("\0", "\ufffd");
  }
}

/** The longest end of `text` that `secret` begins with, but is not the whole of. */
function overlap(text: string, secret: string): number {
  const first = secret[0]!;
  let at = text.indexOf(first, Math.max(0, text.length - secret.length + 1));
  while (at >= 0 && !secret.startsWith(text.slice(at))) at = text.indexOf(first, at + 1);
  return at < 0 ? 0 : text.length - at;
}

/** Text on its way to where it is read. What may be the beginning of a secret is kept back until that is settled. */
export class MaskedText {
  readonly #secrets: Secrets;
  readonly #show: (text: string) => void;
  /** The end of the text so far: what is kept back, and what is needed to know a secret by its beginning. */
  #tail = "";
  /** So many characters of the tail have been shown. */
  #shown = 0;
  /** So many characters of the tail are the rest of a secret that begins before it. */
  #covered = 0;
  /** What was shown last is a mask. */
  #masked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(secrets: Secrets, show: (text: string) => void) {
    this.#secrets = secrets;
    this.#show = show;
  }

  push(text: string): void {
    clearTimeout(this.#timer);
    this.#tail += text;
    const { length, harmless } = this.#secrets.begun(this.#tail);
    const settled = this.#tail.length - length;
    const spans = this.#spans();
    this.#showTo(settled, spans);
    this.#forget(settled, spans);
    if (harmless && this.#shown < this.#tail.length) {
      this.#timer = setTimeout(() => this.#showTo(this.#tail.length, this.#spans()), PAUSE_MS);
    }
  }

  /** Nothing more comes: what was kept back is no secret. */
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
    return this.#covered === 0 ? found : joined([{ start: 0, stop: this.#covered }, ...found]);
  }

  /** Shows what was not shown yet of the tail's first `end` characters. */
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

  /** Lets go of the tail's first characters, which have been shown. */
  #forget(count: number, spans: Span[]): void {
    const across = spans.find(({ start, stop }) => start < count && count < stop);
    if (count > 0) this.#covered = across ? across.stop - count : 0;
    this.#shown -= count;
    this.#tail = this.#tail.slice(count);
  }
}
