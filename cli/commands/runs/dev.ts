import { watch } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { chalkStderr as chalk } from "chalk";
import { cancelQueuedJob } from "../../../src/features/runs/api/change/cancel-operations.ts";
import type { Client } from "../../client/transport.ts";
import { languageOf } from "../../jobs/file-language.ts";
import { followJob, type JobRef } from "../../jobs/follow.ts";
import { errorOf } from "../../jobs/outcome.ts";
import { startJob } from "../../jobs/start.ts";
import { ANEW, readJob } from "../../jobs/wait.ts";
import { readArguments, readSource } from "../../program/arguments.ts";
import { examples, inWorkspace, type WorkspaceOptions, withClient } from "../../program/command.ts";
import { wholeNumber } from "../../program/options.ts";
import { withInterrupt } from "../../terminal/interrupt.ts";
import { openLive } from "../../terminal/live.ts";
import { CliError, EXIT, showFailure } from "../../terminal/text/failure.ts";
import { note, printJson } from "../../terminal/text/output.ts";
import { span } from "../../terminal/text/times.ts";

interface DevOptions extends WorkspaceOptions {
  data?: string;
  tag?: string;
  timeout?: string;
}

/** Editors write a file in several steps: this long after the last one it is taken as saved. */
const SETTLED_MS = 80;

export default inWorkspace("dev", "run a file on each save, and show its log and result")
  .argument("<file>", "a .ts, .js, .sh, .py, .pg.sql, .my.sql, .sqlite.sql or .gql file")
  .option("-d, --data <json>", "arguments: JSON, or @file, which is read for each run")
  .option("--timeout <seconds>", "stop each run after this time")
  .option("--tag <tag>", "run it on a worker that serves this tag")
  .addHelpText(
    "after",
    `${examples(`svc dev hello.ts -d '{"name":"Bob"}'`, "svc dev hello.ts -d @arguments.json --workspace acme")}

Nothing is deployed. If the file is saved again before a run has ended, that
run is canceled. Ctrl-C stops watching.`,
  )
  .action(async (file: string, options: DevOptions) => {
    const language = languageOf(file);
    if (options.timeout !== undefined) wholeNumber("--timeout", options.timeout);
    await readSource(file);
    await withClient(
      options,
      async (client) => {
        const saves = watchFile(file);
        const ended = Promise.withResolvers<"ended">();
        try {
          await withInterrupt(
            () => ended.resolve("ended"),
            () => runOnEachSave(client, { file, language, options }, saves, ended.promise),
          );
        } finally {
          saves.close();
        }
      },
      "own",
    );
  });

interface Subject {
  file: string;
  language: ReturnType<typeof languageOf>;
  options: DevOptions;
}

async function runOnEachSave(
  client: Client,
  subject: Subject,
  saves: Saves,
  ended: Promise<"ended">,
): Promise<void> {
  let content = "";
  for (;;) {
    const saved = saves.next();
    // Between two steps of an editor there may be no file, or an empty one.
    const now = await Bun.file(subject.file)
      .text()
      .catch(() => "");
    if (now !== content && now !== "") {
      content = now;
      const run = startRun(client, subject, content);
      const first = await Promise.race([run.done, saved, ended]);
      if (first !== "done") {
        if (first === "saved") note(chalk.dim("saved again: canceled"));
        await run.cancel();
      }
      if (first === "done" && !subject.options.json)
        note(chalk.dim(`waiting for ${basename(subject.file)} to be saved`));
    }
    if ((await Promise.race([saved, ended])) === "ended") return;
  }
}

/** Runs the code once, and shows it. What goes wrong is shown as well: the next save may mend it. */
function startRun(client: Client, subject: Subject, content: string) {
  let job: JobRef | undefined;
  let canceled = false;
  const isOver = () => canceled;
  const cancelJob = async (at: JobRef) => {
    const body = { reason: "the file was saved again" };
    // It may have ended meanwhile.
    await client.call(cancelQueuedJob, { ...at, body }).catch(() => {});
  };
  const done = (async (): Promise<"done"> => {
    try {
      const { data, timeout, tag, workspace } = subject.options;
      const args = await readArguments(data);
      const code = { content, language: subject.language };
      const seconds = timeout === undefined ? undefined : Number(timeout);
      job = await startJob(client, { workspace, code, args, when: undefined, timeout: seconds, tag });
      if (isOver()) await cancelJob(job);
      else await show(client, job, isOver, subject.options.json ?? false);
    } catch (cause) {
      if (cause instanceof CliError && cause.exit_code === EXIT.usage) throw cause;
      if (!isOver()) showFailure(cause, subject.options.json ?? false);
    }
    return "done";
  })();
  return {
    done,
    async cancel() {
      canceled = true;
      if (job) await cancelJob(job);
      await done;
    },
  };
}

async function show(client: Client, job: JobRef, isOver: () => boolean, json: boolean): Promise<void> {
  const live = openLive(process.stderr);
  try {
    await followJob(client, job, { state: live.state, log: live.log, again: () => note(ANEW) });
  } finally {
    live.stop();
  }
  if (isOver()) return;
  const record = await readJob(client, job);
  const error = errorOf(record);
  if (error && !json) {
    note(`${chalk.red("error:")} ${error.name}: ${error.message}`);
    if (error.trace) note(chalk.dim(error.trace));
  } else printJson(record.type === "CompletedJob" ? record.result : null);
  if (!json && record.type === "CompletedJob") {
    note(chalk.dim(`${record.success ? "success" : "failure"} after ${span(record.duration_ms ?? 0)}`));
  }
}

interface Saves {
  /** Resolves with the next save. */
  next: () => Promise<"saved">;
  close: () => void;
}

/** The folder is watched: many editors put a new file in the place of the old one. */
function watchFile(file: string): Saves {
  const path = resolve(file);
  let wake = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watcher = watch(dirname(path), (_, name) => {
    if (name !== null && name !== basename(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => wake(), SETTLED_MS);
  });
  return {
    next: () =>
      new Promise((done) => {
        wake = () => done("saved");
      }),
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
