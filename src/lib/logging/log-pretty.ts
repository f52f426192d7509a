/** Formats a log line for a terminal: time, level, message, then the fields; stack traces on lines of their own. */

const COLOURS: Record<string, string> = {
  debug: "\x1b[2m",
  info: "\x1b[36m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
  fatal: "\x1b[31m",
};
const OFF = "\x1b[0m";

/**
 * Formats one line of the log for a terminal.
 * @param line a JSON object as the logger writes it, with a trailing newline
 */
export function formatPrettyLine(line: string, colour: boolean): string {
  const { level, time, msg, stack, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level).toUpperCase().padEnd(5);
  const shown = colour ? `${COLOURS[String(level)] ?? ""}${name}${OFF}` : name;
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${formatValue(value)}`);
  const trace = typeof stack === "string" ? `${stack.trimEnd()}\n` : "";
  return `${String(time).slice(11, 23)} ${shown} ${stripControlCharacters(String(msg))}${details.join("")}\n${stripControlCharacters(trace)}`;
}

function formatValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@+-]+$/.test(value)) return value;
  return JSON.stringify(value);
}

/** Removes control characters, so that logged text cannot control the terminal. */
function stripControlCharacters(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "�");
}
