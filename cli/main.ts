/**
 * Entry point of the executable. `--version` is answered before anything else is loaded; a command loads only its own
 * file.
 */
import { VERSIONS_TEXT } from "../src/lib/version.ts";

// chalk's environment variable differs from https://no-color.org.
if (process.env.NO_COLOR) process.env.FORCE_COLOR = "0";

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${VERSIONS_TEXT}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(argv);
  // Waits until the reader of a pipe has received the output. Other pending work must not keep the process alive.
  await Promise.all([process.stdout, process.stderr].map((stream) => flushed(stream)));
  process.exit();
}

/** Flushes a stream. The callback of an empty write comes too early; `end` waits for the reader. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.end(() => resolve());
  });
}
