import chalk from "chalk";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { examples, leaf } from "../../program/command.ts";
import { wholeNumber } from "../../program/options.ts";
import { EXIT } from "../../terminal/text/failure.ts";
import { oneLine, print, printJson, terminalWidth, wrap } from "../../terminal/text/output.ts";
import type { Finding } from "./checks/finding.ts";

interface DoctorOptions {
  dataDir?: string;
  host?: string;
  port?: string;
  json?: boolean;
}

export default leaf("doctor", "check the machine and the data directory, with advice", "directory")
  .option("--host <address>", "address the server listens on (default 127.0.0.1)")
  .option("--port <number>", "port the server listens on (default 8000)")
  .addHelpText("after", examples("svc doctor", "svc doctor --data-dir /var/lib/svc --json"))
  .action(async (options: DoctorOptions) => {
    const port = options.port === undefined ? undefined : wholeNumber("--port", options.port, 65_535);
    const config = loadConfig({ data_dir: options.dataDir, host: options.host, port });
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
    if (failed) process.exitCode = EXIT.failed;
  });

const PAINT = { ok: chalk.green, warn: chalk.yellow, fail: chalk.red };

/** Up to where a finding is told. */
const INDENT = " ".repeat(22);

/** In lines that fit the terminal, and one where there is none. */
function fitted(text: string): string[] {
  return process.stdout.isTTY ? wrap(text, terminalWidth() - INDENT.length) : [text];
}

function show({ check, state, says, advice }: Finding): void {
  const [first = "", ...more] = fitted(oneLine(says));
  print(`${PAINT[state](state.padEnd(4))}  ${check.padEnd(15)} ${first}`);
  for (const line of more) print(INDENT + line);
  if (advice === undefined) return;
  for (const line of fitted(`→ ${advice}`)) print(INDENT + chalk.dim(line));
}
