/**
 * The operator's log on stderr: JSON lines, or readable lines on a terminal. Request bodies, arguments and tokens are
 * never logged; credentials quoted in error messages are redacted.
 */
import pino from "pino";
import { openLogFiles } from "./log-files.ts";
import { formatPrettyLine } from "./log-pretty.ts";
import { redactCredentials } from "./redact.ts";

export interface Log {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  /** Whether a level is enabled; check it before building an expensive line. */
  isLevelEnabled(level: string): boolean;
}

/** Fields with credentials, redacted at any position in case a request or its headers are ever logged. */
const SECRET_FIELDS = ["authorization", "cookie", "set-cookie", "token", "password", "secret"].flatMap(
  (name) => {
    const field = name.includes("-") ? `["${name}"]` : name;
    return [
      field,
      `*${name.includes("-") ? "" : "."}${field}`,
      `*.*${name.includes("-") ? "" : "."}${field}`,
    ];
  },
);

/**
 * Creates the log.
 * @param format `auto`: readable lines on a terminal, else JSON
 * @param folder also writes the log to files in this folder (`log-files.ts`)
 */
export function createLog(level: string, format = "auto", folder?: string): Log {
  const keep = folder === undefined ? undefined : openLogFiles(folder);
  const pretty = format === "pretty" || (format === "auto" && process.stderr.isTTY === true);
  const stderr = pino.destination({ fd: 2, sync: true });
  const colour = process.stderr.isTTY === true && !process.env.NO_COLOR;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS, censor: "*****" },
      hooks: {
        streamWrite: (line) => {
          const clean = redactCredentials(line);
          keep?.(clean);
          return pretty ? formatPrettyLine(clean, colour) : clean;
        },
      },
    },
    stderr,
  );
}
