/** Entry of the executable. `--version` answers before anything is loaded; a command loads only its own file. */
import metadata from "../package.json" with { type: "json" };

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`${metadata.version}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  process.exitCode = await runProgram(argv);
  // Whatever a command left pending must not keep the terminal.
  process.exit();
}
