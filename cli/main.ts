/**
 * Entry point of the executable. `--version` is answered before anything else is loaded; a command loads only its own
 * file.
 */
import { writeSync } from "node:fs";
import { VERSIONS_TEXT } from "../src/lib/version.ts";
import { tuneRuntime } from "./tuned-runtime.ts";

// chalk's environment variable differs from https://no-color.org.
if (process.env.NO_COLOR) process.env.FORCE_COLOR = "0";

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${VERSIONS_TEXT}\n`);
} else {
  tuneRuntime(argv);
  const { runProgram } = await import("./program.ts");
  const streams = [process.stdout, process.stderr];
  const failures = new Map<NodeJS.WriteStream, Error>();
  for (const stream of streams) stream.on("error", (cause) => failures.set(stream, cause));
  process.exitCode = await runProgram(argv);
  // Waits until the reader of a pipe has received the output. Other pending work must not keep the process alive.
  await Promise.all(streams.filter((stream) => !failures.has(stream)).map((stream) => flushed(stream)));
  const lost = failures.get(process.stdout);
  if (lost && process.exitCode === 0) process.exitCode = reportLostOutput(lost);
  process.exit();
}

/**
 * Flushes a stream that has not failed: of one that has, `end` never returns. The callback of an empty write comes too
 * early; `end` waits for the reader.
 */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.end(() => resolve());
  });
}

/** Says that results could not be written, as on a full disk. Streams have ended by then. @returns the exit code */
function reportLostOutput({ message }: Error): number {
  try {
    writeSync(process.stderr.fd, `error: the output could not be written: ${message}\n`);
  } catch {
    // It goes to the same full disk.
  }
  return 1;
}
