/** The output of one child: which job it belongs to, how much of it is kept, what of it is a stream, what is masked. */
import { MaskedText, Secrets } from "./secrets.ts";

/** A line on stdout that is a piece of the result stream, with newlines written as backslash-n. */
const STREAM_MARK = "WM_STREAM: ";

/** A stream line that gets longer than this is handed on before it ends. */
const MAX_PARTIAL = 65_536;

/** Most characters of a last line. */
const MAX_LAST_LINE = 8_000_000;

export interface OutputSink {
  onLog: (text: string) => void;
  onStream: (text: string) => void;
  max_bytes: number;
  /** A shell's result is the last line it prints. */
  keep_last_line?: boolean;
}

/** Collects stdout and stderr of a child, in order of arrival, for the job that runs. */
export class ChildOutput {
  #sink: OutputSink | undefined;
  #bytes = 0;
  #dropped = 0;
  #partial = "";
  /** Last lines of log, for the message of a job that died. */
  #last = "";
  #marks = 0;
  #wanted = 0;
  #onFence: (() => void) | undefined;
  readonly #decoders = [new TextDecoder(), new TextDecoder()] as const;
  /** The last line of stdout that is not empty, and what blank text came after it. */
  #lastLine: string[] = [];
  #lastLineLength = 0;
  #lastLineEnded = false;
  readonly #carried: [string, string] = ["", ""];
  /** Made when there is something to mask: the log's text of each pipe. */
  readonly #masked: [MaskedText?, MaskedText?] = [];
  /** What the child's jobs have read of secrets; results are not masked, logs and streams are. */
  readonly secrets = new Secrets();
  nonce = "";

  /** What arrives from here on belongs to this job. */
  begin(sink: OutputSink): void {
    this.#showKept();
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
  }

  /** The last line printed on stdout that is not empty. */
  get lastStdoutLine(): string {
    return lineAtEnd(this.#lastLine.join("").trimEnd());
  }

  /** The job has ended: what arrives late is nobody's. */
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

  /** The last lines of log of a job whose process has ended. */
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

  /** @param fd 1 for stdout, 2 for stderr */
  push(fd: 1 | 2, bytes: Uint8Array): void {
    let text = this.#carried[fd - 1]! + this.#decoders[fd - 1]!.decode(bytes, { stream: true });
    this.#carried[fd - 1] = "";
    if (text.includes("\0")) text = this.#withoutMark(fd, text);
    if (fd === 1 && this.#sink?.keep_last_line) this.#keepLastLine(text);
    if (text !== "") this.#take(fd, text, bytes.byteLength);
    this.#checkFence();
  }

  /** Takes the end mark out, keeps back what may be its beginning, and replaces other NULs, which no database takes. */
  #withoutMark(fd: 1 | 2, given: string): string {
    const mark = `\0${this.nonce}\0`;
    let text = given;
    const at = text.indexOf(mark);
    if (at >= 0) {
      text = text.slice(0, at) + text.slice(at + mark.length);
      this.#marks |= fd;
    }
    const begun = text.lastIndexOf("\0");
    if (begun >= 0 && mark.startsWith(text.slice(begun))) {
      this.#carried[fd - 1] = text.slice(begun);
      text = text.slice(0, begun);
    }
    return text.replaceAll("\0", "\ufffd");
  }

  /** In pieces, since a line may be long and come in many. */
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

  /** The slow way, taken only where a stream line may be: line by line. */
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
    if (this.#partial.length > MAX_PARTIAL) {
      // A backslash may be the first half of an escaped newline.
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
    // What is beyond the limit is counted and not shown: there is nothing to mask.
    if (this.secrets.none || this.#bytes >= this.#sink!.max_bytes) {
      this.#keep(text, size);
      return;
    }
    this.#masked[fd - 1] ??= new MaskedText(this.secrets, (shown) => this.#keep(shown, shown.length));
    this.#masked[fd - 1]!.push(text);
  }

  /** Shows what was kept back as the possible beginning of a secret. */
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

function lineAtEnd(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1);
}

/** Whether the last line, not ended yet, could become a stream line. */
function endsInPossibleMark(text: string): boolean {
  const last = text.slice(text.lastIndexOf("\n") + 1);
  return last !== "" && STREAM_MARK.startsWith(last);
}
