import { Option } from "commander";
import { cancelQueuedJob } from "../../../src/features/runs/api/change/cancel-operations.ts";
import type { Client } from "../../client/transport.ts";
import { languageOf } from "../../jobs/file-language.ts";
import { followJob, type JobRef, type Watcher } from "../../jobs/follow.ts";
import { openSteps } from "../../jobs/follow-steps.ts";
import { tellOutcome } from "../../jobs/outcome.ts";
import { type Code, startJob, type When } from "../../jobs/start.ts";
import { ANEW, readJob } from "../../jobs/wait.ts";
import { readArguments, readSource } from "../../program/arguments.ts";
import { examples, inWorkspace, type WorkspaceOptions, withClient } from "../../program/command.ts";
import { momentOf, secondsOf, wholeNumber } from "../../program/options.ts";
import { withInterrupt } from "../../terminal/interrupt.ts";
import { openLive } from "../../terminal/live.ts";
import { note, print, printJson, write } from "../../terminal/text/output.ts";

export interface RunOptions extends WorkspaceOptions {
  data?: string;
  async?: boolean;
  at?: string;
  in?: string;
  stream?: boolean;
  log: boolean;
  timeout?: string;
  tag?: string;
}

export default inWorkspace("run", "run a script or flow by path, or a local file")
  .argument("<path>", "u/… or f/… of a script or flow, or a file such as ./hello.ts")
  .option("-d, --data <json>", "arguments: JSON, @file, or - for stdin")
  .option("--async", "print the job's id and do not wait for it")
  .addOption(
    new Option("--at <time>", "run it then, such as 2030-01-31T09:00; prints its id").conflicts("in"),
  )
  .option("--in <time>", "run it after a while, such as 90s, 15m or 2h; prints its id")
  .addOption(
    new Option("--stream", "print what it streams, as it comes").conflicts(["async", "at", "in", "json"]),
  )
  .option("--no-log", "leave its log out")
  .option("--timeout <seconds>", "stop the job after this time")
  .option("--tag <tag>", "run it on a worker that serves this tag")
  .addHelpText(
    "after",
    `${examples(
      `svc run u/ann/hello --workspace acme -d '{"name":"Bob"}'`,
      "svc run ./hello.ts -d @arguments.json",
      "svc run ./countdown.ts --stream",
      "svc run u/ann/report --in 2h",
      "svc job result --wait $(svc run u/ann/report --async)",
    )}

The log goes to stderr, the result to stdout. Ctrl-C cancels the job; a second
one ends the command without waiting for that.`,
  )
  .action(async (path: string, options: RunOptions) => runCode(await readCode(path), options));

/** Starts the code with the arguments of the options, and waits for it unless they say otherwise. */
export async function runCode(code: Code, options: RunOptions): Promise<void> {
  const args = await readArguments(options.data);
  const when = readWhen(options);
  const timeout = options.timeout === undefined ? undefined : wholeNumber("--timeout", options.timeout);
  const { workspace, tag } = options;
  const start = { workspace, code, args, when, timeout, tag };
  const waits = !options.async && !when;
  await withClient(
    options,
    async (client) => {
      const job = await startJob(client, start);
      if (waits) await waitFor(client, job, options, !("content" in code));
      else tellId(client, job, options);
    },
    // A job that nobody waits for is not this command's to run: it is stored, and a server's.
    waits ? "own" : "none",
  );
}

function readWhen(options: RunOptions): When | undefined {
  if (options.at !== undefined) return { scheduled_for: momentOf("--at", options.at) };
  if (options.in !== undefined) return { scheduled_in_secs: secondsOf("--in", options.in) };
  return undefined;
}

/** Scripts' paths begin with u/, f/ or g/; whatever else is given is a file. */
async function readCode(path: string): Promise<Code> {
  if (/^[ufg]\//.test(path)) return { path };
  const content = await readSource(path, "the path of a script begins with u/ or f/, such as u/ann/hello");
  return { content, language: languageOf(path) };
}

/** Nobody waits for the job: its id is all there is to tell. */
function tellId(client: Client, { id }: JobRef, { json }: RunOptions): void {
  if (json) printJson({ id });
  else print(id);
  if (client.local) note("no server is up: the job stays queued until one starts (svc serve)");
}

/** Shows the log or a flow's steps, and with --stream the stream, as they come; then the result. */
async function waitFor(client: Client, job: JobRef, options: RunOptions, mayBeFlow: boolean): Promise<void> {
  const isFlow = mayBeFlow && (await readJob(client, job)).job_kind === "flow";
  const live = isFlow
    ? await openSteps(client, job, options.log)
    : openLive(options.log ? process.stderr : undefined);
  let streamed = "";
  let interrupted = false;
  const watcher: Watcher = {
    state: live.state,
    log: live.log,
    again() {
      streamed = "";
      note(ANEW);
    },
  };
  if (options.stream) {
    watcher.stream = (text) => {
      if (process.stdout.isTTY) void live.stop();
      write(process.stdout, text);
      streamed += text;
    };
  }
  const cancel = () => {
    interrupted = true;
    note("canceling…");
    client
      .call(cancelQueuedJob, { ...job, body: { reason: "canceled at the terminal" } })
      .catch((cause: Error) => note(`it could not be canceled: ${cause.message}`));
  };
  try {
    await withInterrupt(cancel, () => followJob(client, job, watcher));
  } finally {
    await live.stop();
  }
  tellOutcome(await readJob(client, job), { json: options.json ?? false, streamed, interrupted });
}
