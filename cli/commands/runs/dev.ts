import { type FSWatcher, watch } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { chalkStderr as chalk } from "chalk";
import { cancelQueuedJob } from "../../client/operations/runs.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { parseFileLanguage } from "../../jobs/file-language.ts";
import { followJob, type JobRef } from "../../jobs/follow.ts";
import { type LocalCode, readLocalCode } from "../../jobs/local-modules.ts";
import { readJobError } from "../../jobs/outcome.ts";
import { startJob } from "../../jobs/start.ts";
import { RESTART_NOTE, readJob } from "../../jobs/wait.ts";
import { mergeWords, readJsonArguments, readTextFile } from "../../program/arguments.ts";
import {
  createWorkspaceCommand,
  formatExamples,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { parseWholeNumber } from "../../program/options.ts";
import { withInterrupt } from "../../terminal/interrupt.ts";
import { startLiveDisplay } from "../../terminal/live.ts";
import { CliError, EXIT_CODES, showFailure } from "../../terminal/text/failure.ts";
import { printJson, printNote } from "../../terminal/text/output.ts";
import { formatDuration } from "../../terminal/text/times.ts";

interface DevOptions extends WorkspaceOptions {
  data?: string;
  tag?: string;
  timeout?: string;
}

/** Editors write a file in several steps; after this pause it counts as saved. */
const SAVE_DEBOUNCE_MS = 80;

export default createWorkspaceCommand("dev", "run a file on each save, and show its log and result", "new")
  .argument("<file>", "a .ts, .js, .sh, .py, .pg.sql, .my.sql, .sqlite.sql or .gql file")
  .argument("[arguments...]", "name=value, such as name=Bob; values may be JSON")
  .option("-d, --data <json>", "arguments: JSON, or @file, which is read for each run")
  .option("--timeout <seconds>", "stop each run after this time")
  .option("--tag <tag>", "run it on a worker that serves this tag")
  .addHelpText(
    "after",
    `${formatExamples("svc dev hello.ts name=Bob", "svc dev hello.ts -d @arguments.json --workspace acme")}

Nothing is deployed. If the file is saved again before a run has ended, that
run is canceled. Ctrl-C stops watching, with exit code 0.`,
  )
  .action(async (file: string, words: string[], options: DevOptions) => {
    parseFileLanguage(file);
    mergeWords({}, words);
    if (options.timeout !== undefined) parseWholeNumber("--timeout", options.timeout);
    await readTextFile(file);
    await withClient(
      options,
      async (client) => {
        const saves = watchFiles(file);
        const ended = Promise.withResolvers<"ended">();
        try {
          await withInterrupt(
            () => ended.resolve("ended"),
            () => runOnEachSave(client, { file, words, options }, saves, ended.promise),
          );
        } finally {
          saves.close();
        }
      },
      "own",
      "create",
    );
  });

interface DevFile {
  file: string;
  /** Arguments such as `name=Bob`. */
  words: readonly string[];
  options: DevOptions;
}

async function runOnEachSave(
  client: ServiceClient,
  subject: DevFile,
  saves: FileWatcher,
  ended: Promise<"ended">,
): Promise<void> {
  let before: LocalCode | undefined;
  for (;;) {
    const saved = saves.next();
    // While an editor saves, the file may be missing or empty.
    const content = await Bun.file(subject.file)
      .text()
      .catch(() => "");
    const { code, files, missing } = await readLocalCode(subject.file, content);
    saves.watch(missing?.file === undefined ? files : [...files, missing.file]);
    if (missing) {
      before = undefined;
      showFailure(new CliError("MissingFile", missing.message), subject.options.json ?? false);
    } else if (content !== "" && !Bun.deepEquals(code, before)) {
      before = code;
      const run = startRun(client, subject, code);
      const first = await Promise.race([run.done, saved, ended]);
      if (first !== "done") {
        if (first === "saved") printNote(chalk.dim("saved again: canceled"));
        await run.cancel();
      }
      if (first === "done" && !subject.options.json)
        printNote(chalk.dim(`waiting for ${basename(subject.file)} to be saved`));
    }
    if ((await Promise.race([saved, ended])) === "ended") return;
  }
}

/** Runs the code once and shows the result. Errors are only shown: the next save may fix them. */
function startRun(client: ServiceClient, subject: DevFile, code: LocalCode) {
  let job: JobRef | undefined;
  let canceled = false;
  const isOver = () => canceled;
  const cancelJob = async (at: JobRef) => {
    const body = { reason: "the file was saved again" };
    // The job may have ended in the meantime.
    await client.call(cancelQueuedJob, { ...at, body }).catch(() => {});
  };
  const done = (async (): Promise<"done"> => {
    try {
      const { data, timeout, tag, workspace } = subject.options;
      const { readDraftArguments } = await import("../../jobs/check-arguments.ts");
      const args = await readDraftArguments(code, {
        data: await readJsonArguments(data),
        words: subject.words,
      });
      const seconds = timeout === undefined ? undefined : Number(timeout);
      job = await startJob(client, { workspace, code, args, when: undefined, timeout: seconds, tag });
      if (isOver()) await cancelJob(job);
      else await showRun(client, job, isOver, { file: subject.file, json: subject.options.json ?? false });
    } catch (cause) {
      if (cause instanceof CliError && cause.exit_code === EXIT_CODES.usage) throw cause;
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

async function showRun(
  client: ServiceClient,
  job: JobRef,
  isOver: () => boolean,
  { file, json }: { file: string; json: boolean },
): Promise<void> {
  const live = startLiveDisplay(process.stderr);
  try {
    await followJob(client, job, { state: live.state, log: live.log, again: () => printNote(RESTART_NOTE) });
  } finally {
    live.stop();
  }
  if (isOver()) return;
  const record = await readJob(client, job);
  const error = readJobError(record, file);
  if (error && !json) {
    printNote(`${chalk.red("error:")} ${error.title}`);
    if (error.trace) printNote(chalk.dim(error.trace));
  } else printJson(record.type === "CompletedJob" ? record.result : null);
  if (!json && record.type === "CompletedJob") {
    printNote(
      chalk.dim(`${record.success ? "success" : "failure"} after ${formatDuration(record.duration_ms ?? 0)}`),
    );
  }
}

interface FileWatcher {
  /** Resolves at the next save. */
  next: () => Promise<"saved">;
  /** Watches these files in addition to those watched before. */
  watch: (files: string[]) => void;
  close: () => void;
}

/** Watches the folders of files, because many editors replace a file on save. */
function watchFiles(file: string): FileWatcher {
  const folders = new Map<string, FSWatcher>();
  const watched = new Set<string>();
  let wake = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  function watchFile(path: string): void {
    watched.add(path);
    const folder = dirname(path);
    if (folders.has(folder)) return;
    const watcher = watch(folder, (_, name) => {
      if (name !== null && !watched.has(join(folder, name))) return;
      clearTimeout(timer);
      timer = setTimeout(() => wake(), SAVE_DEBOUNCE_MS);
    });
    folders.set(folder, watcher);
  }
  watchFile(resolve(file));
  return {
    next: () =>
      new Promise((done) => {
        wake = () => done("saved");
      }),
    watch: (files) => files.forEach(watchFile),
    close() {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
    },
  };
}
