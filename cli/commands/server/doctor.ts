import chalk from "chalk";
import { loadServerConfig, locateDataDirectory } from "../../client/data-directory.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { EXIT_CODES } from "../../terminal/text/failure.ts";
import { getTerminalWidth, print, printJson, toOneLine, wrapText } from "../../terminal/text/output.ts";
import type { Finding } from "./checks/finding.ts";

interface DoctorOptions {
  dataDir?: string;
  host?: string;
  port?: string;
  json?: boolean;
}

export default createCommand("doctor", "check the machine and the data directory, with advice", "directory")
  .option("--host <address>", "address the server listens on (default 127.0.0.1)")
  .option("--port <number>", "port the server listens on (default 8000)")
  .addHelpText("after", formatExamples("svc doctor", "svc doctor --data-dir /var/lib/svc --json"))
  .action(async (options: DoctorOptions) => {
    const port = options.port === undefined ? undefined : parseWholeNumber("--port", options.port, 65_535);
    const config = loadServerConfig({
      data_dir: locateDataDirectory(options.dataDir),
      host: options.host,
      port,
    });
    const [{ checkDirectory }, { checkDatabase }, { checkMachine }, { checkServer }] = await Promise.all([
      import("./checks/directory.ts"),
      import("./checks/database.ts"),
      import("./checks/machine.ts"),
      import("./checks/server.ts"),
    ]);
    const findings = [
      ...checkDirectory(config),
      ...(await checkDatabase(config)),
      ...checkMachine(config),
      ...(await checkServer(config)),
    ];
    const failed = findings.some(({ state }) => state === "fail");
    if (options.json) printJson({ ok: !failed, findings });
    else for (const finding of findings) show(finding);
    if (failed) process.exitCode = EXIT_CODES.failed;
  });

const STATE_COLORS = { ok: chalk.green, warn: chalk.yellow, fail: chalk.red };

/** Indentation of a finding's text. */
const INDENT = " ".repeat(22);

/** Wraps a text to the terminal; one line elsewhere. */
function wrapToTerminal(text: string): string[] {
  return process.stdout.isTTY ? wrapText(text, getTerminalWidth() - INDENT.length) : [text];
}

function show({ check, state, says, advice }: Finding): void {
  const [first = "", ...more] = wrapToTerminal(toOneLine(says));
  print(`${STATE_COLORS[state](state.padEnd(4))}  ${check.padEnd(15)} ${first}`);
  for (const line of more) print(INDENT + line);
  if (advice === undefined) return;
  for (const line of wrapToTerminal(`→ ${advice}`)) print(INDENT + chalk.dim(line));
}
