import { Option } from "commander";
import {
  cancelQueuedJob,
  forceCancelQueuedJob,
} from "../../../src/features/runs/api/change/cancel-operations.ts";
import { getJobById, getJobLogs } from "../../../src/features/runs/api/read/operations.ts";
import { withoutHeader } from "../../../src/features/runs/job/log-header.ts";
import { isUuid } from "../../../src/lib/text/ids.ts";
import type { Client } from "../../client/transport.ts";
import type { JobRef } from "../../jobs/follow.ts";
import { findJobs, type ListOptions, readFilter } from "../../jobs/list.ts";
import { endLike, tellOutcome } from "../../jobs/outcome.ts";
import { nameOf, paintState, STATES, stateOf, summary, tookOf, whenOf } from "../../jobs/summary.ts";
import { readJob, untilEnded } from "../../jobs/wait.ts";
import {
  examples,
  inWorkspace,
  noun,
  type WorkspaceOptions,
  withClient,
  workspaceFor,
} from "../../program/command.ts";
import { CliError, usageError } from "../../terminal/text/failure.ts";
import { note, print, printJson, printTable, write } from "../../terminal/text/output.ts";

const list = inWorkspace("list", "list jobs, newest first")
  .addOption(new Option("--status <state>", "only those in this state").choices(STATES))
  .option("--path <path>", "only those of this script")
  .option("--path-start <text>", "only those whose path begins with this, such as f/shop/")
  .option("--created-by <name>", "only those that this user or token started")
  .option("--label <label>", "only those that carry this label")
  .option("--tag <tag>", "only those of this tag")
  .option("--kind <kinds>", "only those of these kinds, such as script,preview")
  .option("--since <time>", "only those made since then: 2h (ago), or 2030-01-31")
  .option("--before <time>", "only those made before then: 1d (ago), or 2030-01-31")
  .option("--limit <number>", "how many at most", "20")
  .option("--page <number>", "which page, from 1", "1")
  .addHelpText(
    "after",
    examples(
      "svc job list --workspace acme --status failure --since 2h",
      "svc job list --path u/ann/report --limit 100 --json",
    ),
  )
  .action(async (options: WorkspaceOptions & ListOptions) => {
    const filter = readFilter(options);
    const found = await withJobs(options, (client, workspace) => findJobs(client, workspace, filter));
    if (options.json) return printJson(found);
    await printTable(found, [
      { title: "ID", value: (job) => job.id, cut: "never" },
      { title: "STATE", value: stateOf, cut: "never", paint: paintState },
      { title: "PATH", value: nameOf, cut: "start" },
      { title: "WHEN", value: whenOf, cut: "never" },
      { title: "TOOK", value: tookOf, cut: "never" },
    ]);
    if (process.stderr.isTTY && found.length === filter.limit) {
      note(`for those before: --page ${filter.page + 1}`);
    }
  });

const get = inWorkspace("get", "show all about a job")
  .argument("<id>", "id of the job")
  .addHelpText("after", examples("svc job get $ID --workspace acme", "svc job get $ID --json"))
  .action((id: string, options: WorkspaceOptions) =>
    withJob(id, options, async (client, job) => {
      if (options.json) return printJson(await client.call(getJobById, job));
      print(summary(await readJob(client, job), Math.max(40, process.stdout.columns ?? 80)));
    }),
  );

const logs = inWorkspace("logs", "print the log of a job")
  .argument("<id>", "id of the job")
  .option("-f, --follow", "follow until the job ends; exit 1 if it failed")
  .addHelpText("after", examples("svc job logs $ID --workspace acme", "svc job logs $ID --follow"))
  .action((id: string, options: WorkspaceOptions & { follow?: boolean }) =>
    withJob(id, options, async (client, job) => {
      const ended = options.follow
        ? await untilEnded(client, job, options.json ? undefined : process.stdout)
        : undefined;
      if (options.json) printJson({ id, logs: await client.call(getJobLogs, job) });
      else if (!ended) {
        const log = await client.call(getJobLogs, job);
        write(process.stdout, process.stdout.isTTY ? log : withoutHeader(log));
      }
      if (ended) endLike(ended);
    }),
  );

const result = inWorkspace("result", "print the result of a job; exit 1 if it failed")
  .argument("<id>", "id of the job")
  .option("--wait", "wait until the job ends")
  .addHelpText(
    "after",
    examples("svc job result $ID --workspace acme", "svc job result $(svc run u/ann/report --async) --wait"),
  )
  .action((id: string, options: WorkspaceOptions & { wait?: boolean }) =>
    withJob(id, options, async (client, job) => {
      const found = options.wait ? await untilEnded(client, job) : await readJob(client, job);
      if (found.type === "CompletedJob") return tellOutcome(found, { json: options.json ?? false });
      throw new CliError("NotCompleted", `job ${id} has no result yet: it is ${stateOf(found)}`, {
        hint: "--wait waits for it",
      });
    }),
  );

const cancel = inWorkspace("cancel", "cancel jobs, queued or running")
  .argument("<id...>", "ids of the jobs")
  .option("--reason <text>", "why, shown with the job", "canceled at the terminal")
  .option("--force", "end them at once, even if their worker is gone")
  .addHelpText("after", examples("svc job cancel $ID --workspace acme --reason 'wrong month'"))
  .action((ids: string[], options: WorkspaceOptions & { reason: string; force?: boolean }) => {
    ids.forEach(checkId);
    return withJobs(options, async (client, workspace) => {
      const told: Canceled[] = [];
      const unknown = new Set<string>();
      for (const id of ids) {
        try {
          told.push(await cancelOne(client, { workspace, id }, options));
        } catch (cause) {
          if (!(cause instanceof CliError) || cause.name !== "NotFound") throw cause;
          unknown.add(cause.message);
        }
      }
      if (options.json) printJson(told);
      else for (const { id, outcome } of told) note(OUTCOMES[outcome](id));
      if (unknown.size > 0) throw new CliError("NotFound", [...unknown].join("\n"));
    });
  });

interface Canceled {
  id: string;
  outcome: keyof typeof OUTCOMES;
}

const OUTCOMES = {
  canceled: (id: string) => `canceled ${id}`,
  completed: (id: string) => `${id} had ended already`,
  requested: (id: string) => `${id} was left running by a server that is gone: --force ends it`,
};

async function cancelOne(
  client: Client,
  job: JobRef,
  { reason, force }: { reason: string; force?: boolean },
): Promise<Canceled> {
  const { id } = job;
  const operation = force ? forceCancelQueuedJob : cancelQueuedJob;
  const answer = await client.call(operation, { ...job, body: { reason } });
  if (answer !== id.toLowerCase()) return { id, outcome: "completed" };
  const isLeft = client.local && (await readJob(client, job)).type !== "CompletedJob";
  return { id, outcome: isLeft ? "requested" : "canceled" };
}

/** Does the work in a workspace, and tells where the names are found of what there is not. */
function withJobs<T>(
  options: WorkspaceOptions,
  work: (client: Client, workspace: string) => Promise<T>,
): Promise<T> {
  return withClient(options, async (client) => {
    const workspace = await workspaceFor(client, options.workspace);
    try {
      return await work(client, workspace);
    } catch (cause) {
      if (!(cause instanceof CliError) || !cause.message.startsWith("Not found: ")) throw cause;
      const { name, message } = cause;
      const hint = message.startsWith("Not found: workspace")
        ? "svc workspace list"
        : `svc job list --workspace ${workspace}`;
      throw new CliError(name, message, { hint });
    }
  });
}

function withJob<T>(
  id: string,
  options: WorkspaceOptions,
  work: (client: Client, job: JobRef) => Promise<T>,
): Promise<T> {
  checkId(id);
  return withJobs(options, (client, workspace) => work(client, { workspace, id }));
}

function checkId(id: string): void {
  if (!isUuid(id)) throw usageError(`"${id}" is not the id of a job: it must be a UUID`, "svc job list");
}

export default noun("job", "list, read, follow and cancel jobs", list, get, logs, result, cancel).addHelpText(
  "after",
  examples("svc job list --status failure --since 2h", "svc job logs $ID --follow"),
);
