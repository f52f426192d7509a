import { type Command, Option } from "commander";
import { cancelQueuedJob } from "../../client/operations/runs.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { resolveArguments } from "../../jobs/check-arguments.ts";
import { followJob, type JobRef, type JobWatcher } from "../../jobs/follow.ts";
import { startStepDisplay } from "../../jobs/follow-steps.ts";
import { readLocalCode } from "../../jobs/local-modules.ts";
import { printOutcome } from "../../jobs/outcome.ts";
import { isLocal, type RunTarget, type StartTime, startJob } from "../../jobs/start.ts";
import { RESTART_NOTE, readJob } from "../../jobs/wait.ts";
import { readJsonArguments, readTextFile } from "../../program/arguments.ts";
import {
  createWorkspaceCommand,
  formatExamples,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { parseSeconds, parseTime, parseWholeNumber } from "../../program/options.ts";
import { withInterrupt } from "../../terminal/interrupt.ts";
import { startLiveDisplay } from "../../terminal/live.ts";
import { CliError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, writeText } from "../../terminal/text/output.ts";
import { formatTime, LOCAL_TIMEZONE } from "../../terminal/text/times.ts";

export interface RunCommandOptions extends WorkspaceOptions {
  data?: string;
  async?: boolean;
  at?: string;
  in?: string;
  stream?: boolean;
  log: boolean;
  timeout?: string;
  tag?: string;
  /** The local file to run; not an option. */
  file?: string;
}

/** Creates `svc run`, or `svc script run` with the same options. */
export function createRunCommand(noun?: "script"): Command {
  const code = noun ?? "script or flow";
  const words = noun ? `svc ${noun} run` : "svc run";
  return createWorkspaceCommand("run", `run a ${code} by path, or a local file`, "new")
    .argument("<path>", `u/… or f/… of a ${code}, or a file such as ./hello.ts`)
    .argument("[arguments...]", "name=value, such as name=Bob; values may be JSON")
    .option("-d, --data <json>", "arguments: JSON, @file, or - for stdin")
    .option("--async", "print the job's id and do not wait for it")
    .addOption(
      new Option("--at <time>", "run it at this time, such as 2030-01-31T09:00; prints its id").conflicts(
        "in",
      ),
    )
    .option("--in <time>", "run it after this time, such as 90s, 15m or 2h; prints its id")
    .addOption(
      new Option("--stream", "print what it streams, as it comes").conflicts(["async", "at", "in", "json"]),
    )
    .option("--no-log", "leave its log out")
    .option("--timeout <seconds>", "stop the job after this time")
    .option("--tag <tag>", "run it on a worker that serves this tag")
    .addHelpText(
      "after",
      `${formatExamples(
        `${words} u/ann/hello name=Bob --workspace acme`,
        `${words} ./hello.ts -d @arguments.json`,
        `${words} ./countdown.ts --stream`,
        `${words} u/ann/report --in 2h`,
        `svc job result --wait $(${words} u/ann/report --async)`,
      )}

The log goes to stderr, the result to stdout. Ctrl-C cancels the job; a second
one ends the command without waiting for that.`,
    )
    .action(async (path: string, given: string[], options: RunCommandOptions) =>
      runCode(await readCode(path), { ...options, ...(isDeployed(path) ? {} : { file: path }) }, given),
    );
}

export default createRunCommand();

/** Starts the code with the arguments of the options, and waits for it unless the options say otherwise. */
export async function runCode(
  code: RunTarget,
  options: RunCommandOptions,
  words: readonly string[],
): Promise<void> {
  const data = await readJsonArguments(options.data);
  const when = parseStartTime(options);
  const timeout = options.timeout === undefined ? undefined : parseWholeNumber("--timeout", options.timeout);
  const { workspace, tag } = options;
  const start = { workspace, code, when, timeout, tag };
  const waits = !options.async && !when;
  await withClient(
    options,
    async (client) => {
      const args = await resolveArguments(client, code, workspace, { data, words });
      const job = await startJob(client, { ...start, args });
      if (waits) await followRun(client, job, options, !isLocal(code) || "value" in code);
      else printJobId(client, job, options, when);
    },
    // A job that the command does not wait for is only stored: a server runs it.
    waits ? "own" : "none",
    isLocal(code) ? "create" : "refuse",
  );
}

function parseStartTime(options: RunCommandOptions): StartTime | undefined {
  if (options.at !== undefined) return { scheduled_for: parseTime("--at", options.at) };
  if (options.in !== undefined) return { scheduled_in_secs: parseSeconds("--in", options.in) };
  return undefined;
}

export const isDeployed = (path: string) => /^[ufg]\//.test(path);

/** Returns what to run: a text that begins with u/, f/ or g/ is a path, anything else a file. */
async function readCode(path: string): Promise<RunTarget> {
  if (isDeployed(path)) return { path };
  const content = await readTextFile(path, "the path of a script begins with u/ or f/, such as u/ann/hello");
  const { code, missing } = await readLocalCode(path, content);
  if (missing) throw new CliError("MissingFile", missing.message);
  return code;
}

/** Prints the id of a job that the command does not wait for. */
export function printJobId(
  client: ServiceClient,
  { id }: JobRef,
  { json }: RunCommandOptions,
  when?: StartTime,
): void {
  if (json) printJson({ id });
  else print(id);
  if (when && "scheduled_for" in when && !json) {
    printNote(`runs on ${formatTime(when.scheduled_for, LOCAL_TIMEZONE)}`);
  }
  if (client.local) printNote("no server is up: the job stays queued until one starts (svc serve)");
}

/** Shows the log or a flow's steps while the job runs, with --stream also the stream; then the result. */
export async function followRun(
  client: ServiceClient,
  job: JobRef,
  options: RunCommandOptions,
  mayBeFlow: boolean,
): Promise<void> {
  const isFlow = mayBeFlow && /^flow/.test((await readJob(client, job)).job_kind);
  const live = isFlow
    ? await startStepDisplay(client, job, options.log)
    : startLiveDisplay(options.log ? process.stderr : undefined);
  let streamed = "";
  let interrupted = false;
  const watcher: JobWatcher = {
    state: live.state,
    log: live.log,
    again() {
      streamed = "";
      printNote(RESTART_NOTE);
    },
  };
  if (options.stream) {
    watcher.stream = (text) => {
      if (process.stdout.isTTY) void live.stop();
      writeText(process.stdout, text);
      streamed += text;
    };
  }
  const cancel = () => {
    interrupted = true;
    printNote("canceling…");
    client
      .call(cancelQueuedJob, { ...job, body: { reason: "Ctrl-C at the terminal" } })
      .catch((cause: Error) => printNote(`it could not be canceled: ${cause.message}`));
  };
  try {
    await withInterrupt(cancel, () => followJob(client, job, watcher));
  } finally {
    await live.stop();
  }
  printOutcome(await readJob(client, job), {
    json: options.json ?? false,
    streamed,
    interrupted,
    file: options.file,
  });
}
