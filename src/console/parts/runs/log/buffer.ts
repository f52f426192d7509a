/** Log lines outside of React state; subscribers are notified at a limited rate. */
import { stripStyles } from "./ansi.ts";

/** Memory limit: the oldest lines are dropped beyond it. */
const MAX_CHARACTERS = 120_000_000;
const NOTIFY_INTERVAL_MS = 100;

/** Returns what a terminal would show of a line that was overwritten. */
function lastOf(line: string): string {
  if (!line.includes("\r")) return line;
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf("\r") + 1);
}

export class LogBuffer {
  #lines: string[] = [];
  #last = "";
  #characters = 0;
  #dropped = 0;
  #version = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  append(text: string): void {
    const parts = (this.#last + text).split("\n");
    this.#last = parts.pop()!;
    for (const line of parts) {
      const shown = lastOf(line);
      this.#lines.push(shown);
      this.#characters += shown.length;
    }
    if (this.#characters > MAX_CHARACTERS) this.#drop();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#version++;
      for (const tell of this.#listeners) tell();
    }, NOTIFY_INTERVAL_MS);
  }

  /** Drops a tenth of the lines at once, to amortise the cost. */
  #drop(): void {
    const count = Math.ceil(this.#lines.length / 10);
    for (const line of this.#lines.splice(0, count)) this.#characters -= line.length;
    this.#dropped += count;
  }

  get length(): number {
    return this.#lines.length + (this.#last === "" ? 0 : 1);
  }

  /** Number of dropped lines. */
  get dropped(): number {
    return this.#dropped;
  }

  line(index: number): string {
    return this.#lines[index] ?? lastOf(this.#last);
  }

  /** Returns the indices of lines containing `text`, ignoring case. */
  find(text: string): number[] {
    const wanted = text.toLowerCase();
    const found: number[] = [];
    for (let index = 0; index < this.length; index++) {
      if (stripStyles(this.line(index)).toLowerCase().includes(wanted)) found.push(index);
    }
    return found;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly version = (): number => this.#version;
}
