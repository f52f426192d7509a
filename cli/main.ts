/** Entry of the executable. `--version` answers before anything is loaded; a command loads only its own file. */
import metadata from "../package.json" with { type: "json" };

// https://no-color.org: what colours here knows another variable.
if (process.env.NO_COLOR) process.env.FORCE_COLOR = "0";

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${metadata.version}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(argv);
  // A pipe takes what was printed when its reader gets to it; whatever else is pending must not keep the terminal.
  await Promise.all([process.stdout, process.stderr].map((stream) => flushed(stream)));
  process.exit();
}

/** An empty write is called back at once; the end of the stream is not before its reader has everything. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.end(() => resolve());
  });
}
