/** A line of the log for a person at a terminal: time, level, message, then the fields; a stack on lines of its own. */

const COLOURS: Record<string, string> = {
  debug: "\x1b[2m",
  info: "\x1b[36m",
  warn: "\x1b[33m",
  error: "\x1b[31m",
  fatal: "\x1b[31m",
};
const OFF = "\x1b[0m";

/** @param line a JSON object as the logger writes it, ended by a newline */
export function prettyLine(line: string, colour: boolean): string {
  const { level, time, msg, stack, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const name = String(level).toUpperCase().padEnd(5);
  const shown = colour ? `${COLOURS[String(level)] ?? ""}${name}${OFF}` : name;
  const details = Object.entries(fields).map(([key, value]) => ` ${key}=${shownValue(value)}`);
  const trace = typeof stack === "string" ? `${stack.trimEnd()}\n` : "";
  return `${String(time).slice(11, 23)} ${shown} ${printable(String(msg))}${details.join("")}\n${printable(trace)}`;
}

function shownValue(value: unknown): string {
  if (typeof value === "string" && /^[\w./:@+-]+$/.test(value)) return value;
  return JSON.stringify(value);
}

/** What others wrote must not move the terminal's cursor. */
function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, "�");
}
