/** Output of one child: assigned to its current job, limited, split into log and stream, and masked. */
import { MaskedText, Secrets } from "./secrets.ts";

/** Prefix of stdout lines that belong to the result stream; newlines in them are written as backslash-n. */
export const STREAM_MARK = "WM_STREAM: ";

/** A stream line longer than this is passed on in parts. */
const MAX_PARTIAL_LINE = 65_536;

/**
 * Maximum output of later jobs that is kept until their start is known. This takes a moment only, unless a script
 * forges an announcement.
 */
const MAX_AHEAD = 8_000_000;

/** Maximum length of a last line. */
const MAX_LAST_LINE = 8_000_000;

export interface OutputSink {
  onLog: (text: string) => void;
  onStream: (text: string) => void;
  max_bytes: number;
  /** Keeps the last line, which is a shell script's result. */
  keep_last_line?: boolean;
}

/** Collects stdout and stderr of a child, in order of arrival, for its current job. */
export class ChildOutput {
  #sink: OutputSink | undefined;
  #bytes = 0;
  #dropped = 0;
  #partial = "";
  /** End of the log, for the error message of a job whose process died. */
  #last = "";
  #marks = 0;
  #wanted = 0;
  #onFence: (() => void) | undefined;
  readonly #decoders = [new TextDecoder(), new TextDecoder()] as const;
  /** Last non-empty line of stdout, and the blank text after it. */
  #lastLine: string[] = [];
  #lastLineLength = 0;
  #lastLineEnded = false;
  readonly #carried: [string, string] = ["", ""];
  /** Masked log text per pipe, created when there is something to mask. */
  readonly #masked: [MaskedText?, MaskedText?] = [];
  /** Secrets read by the child's jobs; masked in logs and streams, but not in results. */
  readonly secrets = new Secrets();
  nonce = "";
  /** Number of the current job among the child's. */
  #sequence = 0;
  /** Output of later jobs, by pipe, whose start the server does not know yet. */
  readonly #ahead: [string, string] = ["", ""];

  /**
   * Assigns all further output to this job, including what it has printed already.
   * @param sequence its sequence number among the child's jobs
   */
  begin(sink: OutputSink, sequence: number): void {
    this.#showKept();
    this.#sequence = sequence;
    this.#sink = sink;
    this.#bytes = 0;
    this.#dropped = 0;
    this.#partial = "";
    this.#last = "";
    this.#marks = 0;
    this.#wanted = 0;
    this.#lastLine = [];
    this.#lastLineLength = 0;
    this.#lastLineEnded = false;
    for (const fd of [1, 2] as const) {
      const text = this.#ahead[fd - 1]!;
      this.#ahead[fd - 1] = "";
      if (text !== "") this.#assign(fd, text);
    }
  }

  /** Last non-empty line of stdout. */
  get lastStdoutLine(): string {
    return lineAtEnd(this.#lastLine.join("").trimEnd());
  }

  /** Ends the job's output; later output is discarded. */
  end(): void {
    if (!this.#sink) return;
    if (this.#partial !== "") this.#emit(this.#partial);
    this.#partial = "";
    this.#showKept();
    if (this.#dropped > 0) {
      this.#sink.onLog(
        `\n[the log is cut here: ${this.#dropped} more bytes were left out, the limit is ${this.#sink.max_bytes}]\n`,
      );
    }
    this.#sink = undefined;
  }

  /** Returns the last log lines of a job whose process has ended. */
  lastLines(): string {
    this.#showKept();
    return this.#last.trimEnd().split("\n").slice(-5).join("\n");
  }

  /** Calls back once the end marks of these pipes (1 = stdout, 2 = stderr, 3 = both) have been read. */
  whenFenced(wanted: number, callback: () => void): void {
    this.#wanted = wanted;
    this.#onFence = callback;
    this.#checkFence();
  }

  #checkFence(): void {
    if (!this.#onFence || (this.#marks & this.#wanted) !== this.#wanted) return;
    const callback = this.#onFence;
    this.#onFence = undefined;
    callback();
  }

  /** Receives bytes that the child has written to a pipe. @param fd 1 for stdout, 2 for stderr */
  push(fd: 1 | 2, bytes: Uint8Array): void {
    const text = this.#carried[fd - 1]! + this.#decoders[fd - 1]!.decode(bytes, { stream: true });
    this.#carried[fd - 1] = "";
    if (this.#ahead[fd - 1] === "") this.#assign(fd, text, bytes.byteLength);
    else if (this.#ahead[fd - 1]!.length < MAX_AHEAD) this.#ahead[fd - 1] += text;
  }

  /**
   * Assigns text to the log or the result stream of the current job.
   * @param size approximate number of bytes of the text
   */
  #assign(fd: 1 | 2, given: string, size = given.length): void {
    const text = given.includes("\0") ? this.#withoutMark(fd, this.#upToLaterJob(fd, given)) : given;
    if (fd === 1 && this.#sink?.keep_last_line) this.#keepLastLine(text);
    if (text !== "") this.#take(fd, text, size);
    this.#checkFence();
  }

  /** Sets the output of later jobs aside and removes the start mark of this job's output. */
  #upToLaterJob(fd: 1 | 2, given: string): string {
    const mark = `\0${this.nonce}>`;
    let text = given;
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
      const end = text.indexOf("\0", at + mark.length);
      // Part of the mark has not arrived yet.
      if (end < 0) break;
      if (Number(text.slice(at + mark.length, end)) > this.#sequence) {
        this.#ahead[fd - 1] = text.slice(at);
        return text.slice(0, at);
      }
      text = text.slice(0, at) + text.slice(end + 1);
    }
    return text;
  }

  /**
   * Removes the end mark, holds back a possible partial mark, and replaces other NULs, which databases cannot store.
   */
  #withoutMark(fd: 1 | 2, given: string): string {
    const mark = `\0${this.nonce}\0`;
    let text = given;
    const at = text.indexOf(mark);
    if (at >= 0) {
      text = text.slice(0, at) + text.slice(at + mark.length);
      this.#marks |= fd;
    }
    const begun = text.lastIndexOf("\0");
    if (begun >= 0 && isPartialMark(text.slice(begun), mark)) {
      this.#carried[fd - 1] = text.slice(begun);
      text = text.slice(0, begun);
    }
    return text.replaceAll("\0", "\ufffd");
  }

  /** Keeps chunks, since a line may be long and arrive in many. */
  #keepLastLine(text: string): void {
    const end = text.trimEnd().length;
    const newline = end === 0 ? -1 : text.lastIndexOf("\n", end - 1);
    if (newline >= 0) this.#lastLine = [text.slice(newline + 1)];
    else if (end > 0 && this.#lastLineEnded) this.#lastLine = [lineAtEnd(this.#lastLine.join("")), text];
    else this.#lastLine.push(text);
    this.#lastLineEnded = text.includes("\n", end) || (end === 0 && this.#lastLineEnded);
    this.#lastLineLength = newline >= 0 ? text.length : this.#lastLineLength + text.length;
    if (this.#lastLineLength <= 2 * MAX_LAST_LINE) return;
    this.#lastLine = [this.#lastLine.join("").slice(-MAX_LAST_LINE)];
    this.#lastLineLength = this.#lastLine[0]!.length;
  }

  #take(fd: 1 | 2, text: string, size: number): void {
    if (!this.#sink) return;
    if (fd === 2) this.#log(fd, text, size);
    else if (this.#partial === "" && !text.includes(STREAM_MARK) && !endsInPossibleMark(text))
      this.#log(fd, text, size);
    else this.#lines(text);
  }

  /** Slow path for text that may contain stream lines: processes it line by line. */
  #lines(text: string): void {
    const lines = (this.#partial + text).split("\n");
    this.#partial = lines.pop()!;
    if (
      this.#partial !== "" &&
      !STREAM_MARK.startsWith(this.#partial) &&
      !this.#partial.startsWith(STREAM_MARK)
    ) {
      this.#emitLines(lines);
      this.#log(1, this.#partial, this.#partial.length);
      this.#partial = "";
      return;
    }
    this.#emitLines(lines);
    if (this.#partial.length > MAX_PARTIAL_LINE) {
      // The backslash may be the first half of an escaped newline.
      const whole = this.#partial.endsWith("\\") ? this.#partial.slice(0, -1) : this.#partial;
      this.#emit(whole);
      this.#partial = STREAM_MARK + this.#partial.slice(whole.length);
    }
  }

  #emitLines(lines: string[]): void {
    for (const line of lines) this.#emit(`${line}\n`);
  }

  #emit(line: string): void {
    if (!line.startsWith(STREAM_MARK)) {
      this.#log(1, line, line.length);
      return;
    }
    const text = line.slice(STREAM_MARK.length).replace(/\n$/, "").replaceAll("\\n", "\n");
    this.#sink?.onStream(text);
  }

  #log(fd: 1 | 2, text: string, size: number): void {
    // Output beyond the limit is only counted, so it needs no masking.
    if (this.secrets.isEmpty || this.#bytes >= this.#sink!.max_bytes) {
      this.#keep(text, size);
      return;
    }
    this.#masked[fd - 1] ??= new MaskedText(this.secrets, (shown) => this.#keep(shown, shown.length));
    this.#masked[fd - 1]!.push(text);
  }

  /** Flushes text that was held back as a possible partial secret. */
  #showKept(): void {
    for (const masked of this.#masked) masked?.end();
  }

  #keep(text: string, size: number): void {
    const sink = this.#sink!;
    const room = sink.max_bytes - this.#bytes;
    this.#bytes += size;
    if (room <= 0) {
      this.#dropped += size;
      return;
    }
    const kept = size > room ? text.slice(0, room) : text;
    if (size > room) this.#dropped += size - room;
    this.#last = (this.#last + kept).slice(-2_000);
    sink.onLog(kept);
  }
}

/**
 * Whether a text is the beginning of an end mark, or of the announcement of a job.
 * @param mark the end mark, in whose place the announcement of a job may stand
 */
function isPartialMark(text: string, mark: string): boolean {
  const announcement = `${mark.slice(0, -1)}>`;
  return mark.startsWith(text) || announcement.startsWith(text) || text.startsWith(announcement);
}

function lineAtEnd(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1);
}

/** Whether the unfinished last line may become a stream line. */
function endsInPossibleMark(text: string): boolean {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  return last !== "" && STREAM_MARK.startsWith(last);
}
