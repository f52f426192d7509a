import { cancelQueuedJob } from "../../src/features/jobs/cancel-operations.ts";
import { getCompletedJob, getJobUpdateStream } from "../../src/features/jobs/operations.ts";
import { runPreview } from "../../src/features/jobs/preview-operations.ts";
import { runScriptByPath } from "../../src/features/jobs/run-operations.ts";
import { createWorkspace, listWorkspaces } from "../../src/features/workspaces/operations.ts";
import { type CommonOptions, examples, leaf, wholeNumber, withClient, workspaceFor } from "../command.ts";
import { CliError, EXIT, usageError } from "../terminal/failure.ts";
import { note, printJson } from "../terminal/output.ts";
import type { Client } from "../transport.ts";
import { languageOf, readSource } from "./script.ts";

interface RunOptions extends CommonOptions {
  workspace?: string;
  data?: string;
  timeout?: string;
  tag?: string;
}

/** Where a file is run that belongs to no workspace yet. */
const LOCAL_WORKSPACE = "local";

export default leaf("run", "run a script by path, or a local file")
  .argument("<path>", "u/… or f/… of a script, or a file such as ./hello.ts")
  .option("--workspace <id>", "workspace to run in (env SVC_WORKSPACE)")
  .option("-d, --data <json>", "arguments: JSON, @file, or - for stdin")
  .option("--timeout <seconds>", "stop the job after this time")
  .option("--tag <tag>", "run it where this tag is served")
  .addHelpText(
    "after",
    `${examples(
      `svc run u/ann/hello --workspace acme -d '{"name":"Bob"}'`,
      "svc run ./hello.ts -d @arguments.json",
    )}\n\nThe log goes to stderr, the result to stdout. Ctrl-C cancels the job.`,
  )
  .action(async (path: string, options: RunOptions) => {
    const args = await readArguments(options.data);
    const query = {
      timeout: options.timeout === undefined ? undefined : wholeNumber("--timeout", options.timeout),
      tag: options.tag,
    };
    const file = isScriptPath(path) ? undefined : await readLocal(path);
    const failed = await withClient(
      options,
      async (client) => {
        const workspace = file
          ? await workspaceForFile(client, options)
          : await workspaceFor(client, options.workspace);
        const job = file
          ? await client.call(runPreview, {
              workspace,
              query,
              body: { ...file, args },
            })
          : await client.call(runScriptByPath, { workspace, path, query, body: args } as never);
        return follow(client, workspace, job, options.json ?? false);
      },
      "own",
    );
    if (failed) process.exitCode = EXIT.failed;
  });

/** Scripts' paths begin with u/, f/ or g/; whatever else is given is a file. */
function isScriptPath(path: string): boolean {
  return /^[ufg]\//.test(path);
}

async function readLocal(file: string) {
  const content = await readSource(file, "the path of a script begins with u/ or f/, such as u/ann/hello");
  return { content, language: languageOf(file) };
}

async function workspaceForFile(client: Client, options: RunOptions): Promise<string> {
  const named = options.workspace ?? process.env.SVC_WORKSPACE;
  if (named) return named;
  const found = await client.call(listWorkspaces, {});
  if (found.length > 0) return (found.find(({ id }) => id === LOCAL_WORKSPACE) ?? found[0]!).id;
  await client.call(createWorkspace, { body: { id: LOCAL_WORKSPACE, name: "Local" } });
  return LOCAL_WORKSPACE;
}

const DATA_HINT = `such as -d '{"name":"Bob"}', -d @file, or -d - for stdin`;

async function readArguments(data: string | undefined): Promise<Record<string, unknown>> {
  if (data === undefined) return {};
  const text =
    data === "-" ? await Bun.stdin.text() : data.startsWith("@") ? await readSource(data.slice(1)) : data;
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch (cause) {
    throw usageError(`--data is not JSON: ${(cause as Error).message}`, DATA_HINT);
  }
  throw usageError("--data must be a JSON object: its keys are the script's arguments", DATA_HINT);
}

interface Update {
  type: string;
  new_logs?: string;
  log_offset?: number;
  completed?: boolean;
}

/** Shows the log as it comes and the result at the end. @returns whether the job failed */
async function follow(client: Client, workspace: string, id: string, json: boolean): Promise<boolean> {
  let canceling = false;
  const cancel = () => {
    if (canceling) process.exit(EXIT.interrupted);
    canceling = true;
    note("canceling…");
    client
      .call(cancelQueuedJob, { workspace, id, body: { reason: "canceled at the terminal" } })
      .catch(() => {});
  };
  process.on("SIGINT", cancel);
  try {
    let offset = 0;
    for (let completed = false; !completed; ) {
      const query = { log_offset: offset, only_result: true };
      const response = await client.open(getJobUpdateStream, { workspace, id, query } as never);
      for await (const update of events(response)) {
        if (update.new_logs) process.stderr.write(update.new_logs);
        offset = update.log_offset ?? offset;
        completed = update.completed ?? false;
      }
    }
  } catch (cause) {
    if (!(cause instanceof CliError) || cause.name !== "Unreachable") throw cause;
    const { name, message, exit_code } = cause;
    throw new CliError(name, message, { hint: `the job may go on: ${id}`, exit_code });
  } finally {
    process.off("SIGINT", cancel);
  }
  const job = await client.call(getCompletedJob, { workspace, id });
  const { error } = (job.result ?? {}) as { error?: { name?: string; message?: string; stack?: string } };
  if (job.success || !error || json) printJson(job.result);
  if (job.success || !error) return !job.success;
  const name = error.name ?? "Error";
  const trace = error.stack?.match(/^ +at .*$/gm)?.join("\n");
  throw new CliError(name, `${name}: ${error.message}`, { trace, hint: `job ${id}` });
}

async function* events(response: Response): AsyncGenerator<Update> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of untilBroken(response.body as unknown as AsyncIterable<Uint8Array>)) {
    const frames = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = frames.pop()!;
    for (const frame of frames) if (frame.startsWith("data: ")) yield JSON.parse(frame.slice(6)) as Update;
  }
}

/** A connection that breaks ends the stream; the next call tells whether the server is still there. */
async function* untilBroken<T>(body: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* body;
  } catch {
    return;
  }
}
