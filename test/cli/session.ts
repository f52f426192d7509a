/** A session at a terminal. */
import { stripVTControlCharacters } from "node:util";
import type { CliEnvironment } from "./program.ts";

export interface Session extends Disposable {
  /** Resolves once the screen has shown the text since the last wait. */
  sees: (text: string) => Promise<void>;
  types: (keys: string) => void;
  /** The exit code, all that was shown, and the same with the terminal's control characters. */
  ended: () => Promise<{ code: number; shown: string; raw: string }>;
}

export const ENTER = "\r";
export const CTRL_C = "\x03";

/** Starts a command on a pseudo-terminal of 80 columns. */
export function startSession(
  place: Pick<CliEnvironment, "program" | "folder" | "environment">,
  args: string[],
  env: Record<string, string> = {},
): Session {
  let shown = "";
  let raw = "";
  let seen = 0;
  let wake = () => {};
  const closed = Promise.withResolvers<void>();
  let isClosed = false;
  const decoder = new TextDecoder();
  const child = Bun.spawn([...place.program, ...args], {
    cwd: place.folder,
    env: { ...place.environment, TERM: "xterm-256color", ...env },
    terminal: {
      cols: 80,
      rows: 24,
      data(_, bytes) {
        raw += decoder.decode(bytes, { stream: true });
        shown = stripVTControlCharacters(raw);
        wake();
      },
      // Called after the last chunk of data.
      exit() {
        isClosed = true;
        closed.resolve();
        wake();
      },
    },
  });
  return {
    async sees(text) {
      while (!shown.includes(text, seen)) {
        if (isClosed) throw new Error(`ended without "${text}": ${shown}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      seen = shown.indexOf(text, seen) + text.length;
    },
    types: (keys) => child.terminal?.write(keys),
    async ended() {
      const [code] = await Promise.all([child.exited, closed.promise]);
      child.terminal?.close();
      return { code, shown, raw };
    },
    [Symbol.dispose]: () => child.kill("SIGKILL"),
  };
}
