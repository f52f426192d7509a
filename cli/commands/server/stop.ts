import { sleep } from "../../../src/lib/async/sleep.ts";
import { isOwnerAlive, type LockOwner } from "../../../src/lib/files/directory-lock.ts";
import { readServerStatus } from "../../client/running-server.ts";
import { createCommand, formatExamples } from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { withProgress } from "../../terminal/progress.ts";
import { CliError } from "../../terminal/text/failure.ts";
import { printJson, printNote } from "../../terminal/text/output.ts";

const POLL_INTERVAL_MS = 50;

interface StopOptions {
  dataDir?: string;
  timeout: string;
  json?: boolean;
}

export default createCommand("stop", "stop the server: running jobs get time to end", "directory")
  .option("--timeout <seconds>", "how long to wait until it has stopped", "120")
  .addHelpText("after", formatExamples("svc stop", "svc stop --data-dir /var/lib/svc"))
  .action(async (options: StopOptions) => {
    const seconds = parseWholeNumber("--timeout", options.timeout);
    const { owner, data_dir } = await readServerStatus(options.dataDir);
    const pid = owner?.pid;
    if (owner) await withProgress("stopping", () => endServer(owner, data_dir, seconds));
    if (options.json) printJson({ data_dir, stopped: pid !== undefined, pid });
    else
      printNote(
        pid === undefined ? `no server is up on ${data_dir}` : `stopped process ${pid} of ${data_dir}`,
      );
  });

async function endServer(owner: LockOwner, data_dir: string, seconds: number): Promise<void> {
  const { pid } = owner;
  if (!isOwnerAlive(owner)) {
    throw new CliError(
      "ElsewhereUp",
      `the server of ${data_dir} is not a process that can be seen from here`,
      {
        hint: "it runs in a container or on another machine: stop it there",
      },
    );
  }
  process.kill(pid, "SIGTERM");
  for (const end = Date.now() + seconds * 1000; isOwnerAlive(owner); ) {
    if (Date.now() > end) {
      throw new CliError("Timeout", `process ${pid} has not ended after ${seconds} s`, {
        hint: `it is waiting for running jobs; kill -9 ${pid} ends it, and the next server starts its jobs again`,
      });
    }
    await sleep(POLL_INTERVAL_MS);
  }
}
