import { readServerStatus } from "../../client/running-server.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { EXIT_CODES } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, quoteForShell } from "../../terminal/text/output.ts";

export default createCommand("status", "show whether a server is up, and where; exit 3 if not", "directory")
  .addHelpText("after", formatExamples("svc status", "svc status --data-dir /var/lib/svc --json"))
  .action(async (options: { dataDir?: string; json?: boolean }) => {
    const { data_dir, running, owner, url } = await readServerStatus(options.dataDir);
    const { pid, since } = owner ?? {};
    if (!running) process.exitCode = EXIT_CODES.unreachable;
    if (options.json) return printJson({ data_dir, running, pid, since, url });
    if (!running) {
      print(`no server is up on ${data_dir}`);
      return printNote(`hint: svc serve --data-dir ${quoteForShell(data_dir)} starts it`);
    }
    print(`up at ${url ?? "an unknown address"}, as process ${pid} since ${since}`);
    print(`data in ${data_dir}`);
  });
