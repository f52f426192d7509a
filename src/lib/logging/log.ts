/**
 * The operator's log on stderr: one JSON object a line, or a line to read on a terminal. Request bodies, arguments and
 * tokens are never fields of it; what an error message quotes of a credential is struck out on the way.
 */
import pino from "pino";
import { prettyLine } from "./log-pretty.ts";
import { withoutCredentials } from "./redact.ts";

export interface Log {
  debug(fields: Record<string, unknown>, message: string): void;
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
  /** Whether lines of a level are written at all: asked before a line is made that costs something. */
  isLevelEnabled(level: string): boolean;
}

/** Fields that hold a credential wherever they stand, should anybody ever log a request or its headers. */
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

/** @param format `auto` is pretty where stderr is a terminal */
export function createLog(level: string, format = "auto"): Log {
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
          const clean = withoutCredentials(line);
          return pretty ? prettyLine(clean, colour) : clean;
        },
      },
    },
    stderr,
  );
}
