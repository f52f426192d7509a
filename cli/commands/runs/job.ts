import { Option } from "commander";
import { stripLogHeader } from "../../../src/features/runs/job/log-header.ts";
import { isUuid } from "../../../src/lib/text/ids.ts";
import {
  cancelQueuedJob,
  forceCancelQueuedJob,
  getJobById,
  getJobLogs,
} from "../../client/operations/runs.ts";
import type { ServiceClient } from "../../client/transport.ts";
import { answerFlow, describeApproval, readApprovalForm } from "../../jobs/approval.ts";
import { completeArguments } from "../../jobs/check-arguments.ts";
import { FlowSteps } from "../../jobs/flow-steps.ts";
import type { JobRef } from "../../jobs/follow.ts";
import { type ListOptions, listMatchingJobs, readFilter } from "../../jobs/list.ts";
import { printOutcome, setExitCode } from "../../jobs/outcome.ts";
import {
  formatDueTime,
  formatJobDuration,
  formatJobName,
  formatJobSummary,
  getJobState,
  paintState,
  STATES,
} from "../../jobs/summary.ts";
import { readJob, waitForCompletion } from "../../jobs/wait.ts";
import { readJsonArguments } from "../../program/arguments.ts";
import {
  createNoun,
  createWorkspaceCommand,
  formatExamples,
  resolveWorkspace,
  type WorkspaceOptions,
  withClient,
} from "../../program/command.ts";
import { CliError, createUsageError } from "../../terminal/text/failure.ts";
import { print, printJson, printNote, printTable, writeText } from "../../terminal/text/output.ts";
import { drawStepsWithJobs } from "../../terminal/tree/step-tree.ts";
import { rerunCommand } from "./rerun.ts";

const list = createWorkspaceCommand("list", "list jobs, newest first")
  .addOption(new Option("--status <state>", "only those in this state").choices(STATES))
  .option("--path <path>", "only those of this script")
  .option("--prefix <path>", "only those whose path begins with this, such as f/shop/")
  .option("--by <name>", "only those that this user or token started")
  .option("--label <label>", "only those that carry this label")
  .option("--tag <tag>", "only those of this tag")
  .option("--kind <kinds>", "only those of these kinds, such as script,preview")
  .option("--since <time>", "only those created after this time: 2h (ago), or 2030-01-31")
  .option("--before <time>", "only those created before this time: 1d (ago), or 2030-01-31")
  .option("--limit <number>", "maximum number of jobs", "20")
  .option("--page <number>", "page number, from 1", "1")
  .addHelpText(
    "after",
    formatExamples(
      "svc job list --workspace acme --status failure --since 2h",
      "svc job list --path u/ann/report --limit 100 --json",
    ),
  )
  .action(async (options: WorkspaceOptions & ListOptions) => {
    const filter = readFilter(options);
    const found = await withJobClient(options, (client, workspace) =>
      listMatchingJobs(client, workspace, filter),
    );
    if (options.json) return printJson(found);
    await printTable(
      found,
      [
        { title: "ID", value: (job) => job.id, cut: "never" },
        { title: "STATE", value: getJobState, cut: "never", paint: paintState },
        { title: "PATH", value: formatJobName, cut: "start" },
        { title: "WHEN", value: formatDueTime, cut: "never" },
        { title: "TOOK", value: formatJobDuration, cut: "never" },
      ],
      "no jobs; svc run starts one",
    );
    if (process.stderr.isTTY && found.length === filter.limit) {
      printNote(`older: --page ${filter.page + 1}`);
    }
  });

const get = createWorkspaceCommand("show", "show all about a job")
  .argument("<id>", "id of the job")
  .addHelpText("after", formatExamples("svc job show $ID --workspace acme", "svc job show $ID --json"))
  .action((id: string, options: WorkspaceOptions) =>
    withJob(id, options, async (client, job) => {
      if (options.json) return printJson(await client.call(getJobById, job));
      const record = await readJob(client, job);
      const width = Math.max(40, process.stdout.columns ?? 80);
      const steps = record.flow_status ? await new FlowSteps(client, job).readLines() : [];
      print(formatJobSummary(record, width, drawStepsWithJobs(steps, width)));
      if (record.suspend !== undefined) printNote(await describeApproval(client, job));
    }),
  );

const logs = createWorkspaceCommand("logs", "print the log of a job")
  .argument("<id>", "id of the job")
  .option("-f, --follow", "follow until the job ends; exit 1 if it failed")
  .addHelpText("after", formatExamples("svc job logs $ID --workspace acme", "svc job logs $ID --follow"))
  .action((id: string, options: WorkspaceOptions & { follow?: boolean }) =>
    withJob(id, options, async (client, job) => {
      const ended = options.follow
        ? await waitForCompletion(client, job, options.json ? undefined : process.stdout)
        : undefined;
      if (options.json) printJson({ id, logs: await client.call(getJobLogs, job) });
      else if (!ended) {
        const log = await client.call(getJobLogs, job);
        writeText(process.stdout, process.stdout.isTTY ? log : stripLogHeader(log));
      }
      if (ended) setExitCode(ended);
    }),
  );

const result = createWorkspaceCommand("result", "print the result of a job; exit 1 if it failed")
  .argument("<id>", "id of the job")
  .option("--wait", "wait until the job ends")
  .addHelpText(
    "after",
    formatExamples(
      "svc job result $ID --workspace acme",
      "svc job result $(svc run u/ann/report --async) --wait",
    ),
  )
  .action((id: string, options: WorkspaceOptions & { wait?: boolean }) =>
    withJob(id, options, async (client, job) => {
      const found = options.wait ? await waitForCompletion(client, job) : await readJob(client, job);
      if (found.type === "CompletedJob") return printOutcome(found, { json: options.json ?? false });
      throw new CliError("NotCompleted", `job ${id} has no result yet: it is ${getJobState(found)}`, {
        hint: "--wait waits for it",
      });
    }),
  );

const cancel = createWorkspaceCommand("cancel", "cancel jobs, queued or running")
  .argument("<id...>", "ids of the jobs")
  .option("--reason <text>", "why, shown with the job", "svc job cancel")
  .option("--force", "cancel them at once, even if their worker is gone")
  .addHelpText("after", formatExamples("svc job cancel $ID --workspace acme --reason 'wrong month'"))
  .action((ids: string[], options: WorkspaceOptions & { reason: string; force?: boolean }) => {
    ids.forEach(requireJobId);
    return withJobClient(options, async (client, workspace) => {
      const told: CancelResult[] = [];
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
      else for (const { id, outcome } of told) printNote(CANCEL_MESSAGES[outcome](id));
      if (unknown.size > 0) throw new CliError("NotFound", [...unknown].join("\n"));
    });
  });

const approve = createAnswerCommand("approve", "approve what a flow waits for", "approved");
const reject = createAnswerCommand("reject", "reject what a flow waits for: the flow fails", "rejected");

function createAnswerCommand(name: string, summary: string, outcome: "approved" | "rejected") {
  return createWorkspaceCommand(name, summary)
    .argument("<id>", "id of the flow's job, or of the step that asks")
    .argument("[values...]", "what the next step reads as `resume`: name=value")
    .option("-d, --data <json>", "the same as JSON: an object, @file, or - for stdin")
    .addHelpText("after", formatExamples(`svc job ${name} $ID reason='it arrived broken'`))
    .action((id: string, values: string[], options: WorkspaceOptions & { data?: string }) =>
      withJob(id, options, async (client, job) => {
        const given = { data: await readJsonArguments(options.data), words: values };
        // The form is optional for a rejection.
        const form = outcome === "approved" ? await readApprovalForm(client, job) : undefined;
        const value = await completeArguments(form, given);
        await answerFlow(client, job, { approved: outcome === "approved", value });
        if (options.json) printJson({ id, [outcome]: true });
        else printNote(`${outcome} ${id}`);
      }),
    );
}

interface CancelResult {
  id: string;
  outcome: keyof typeof CANCEL_MESSAGES;
}

const CANCEL_MESSAGES = {
  canceled: (id: string) => `canceled ${id}`,
  completed: (id: string) => `${id} had ended already`,
  requested: (id: string) => `${id} was left running by a server that is gone: --force ends it`,
};

async function cancelOne(
  client: ServiceClient,
  job: JobRef,
  { reason, force }: { reason: string; force?: boolean },
): Promise<CancelResult> {
  const { id } = job;
  const operation = force ? forceCancelQueuedJob : cancelQueuedJob;
  const answer = await client.call(operation, { ...job, body: { reason } });
  if (answer !== id.toLowerCase()) return { id, outcome: "completed" };
  const isLeft = client.local && (await readJob(client, job)).type !== "CompletedJob";
  return { id, outcome: isLeft ? "requested" : "canceled" };
}

/** Runs the work in a workspace. Errors about unknown jobs get a hint where to find job ids. */
function withJobClient<T>(
  options: WorkspaceOptions,
  work: (client: ServiceClient, workspace: string) => Promise<T>,
): Promise<T> {
  return withClient(options, async (client) => {
    const workspace = await resolveWorkspace(client, options.workspace);
    try {
      return await work(client, workspace);
    } catch (cause) {
      if (!(cause instanceof CliError) || cause.name !== "NotFound") throw cause;
      const { name, message } = cause;
      const hint = message.startsWith("there is no workspace")
        ? "svc workspace list"
        : `svc job list --workspace ${workspace}`;
      throw new CliError(name, message, { hint });
    }
  });
}

function withJob<T>(
  id: string,
  options: WorkspaceOptions,
  work: (client: ServiceClient, job: JobRef) => Promise<T>,
): Promise<T> {
  requireJobId(id);
  return withJobClient(options, (client, workspace) => work(client, { workspace, id }));
}

function requireJobId(id: string): void {
  if (!isUuid(id))
    throw createUsageError(`"${id}" is not the id of a job: it must be a UUID`, "svc job list");
}

export default createNoun(
  "job",
  "list, read, follow, cancel, rerun and approve jobs",
  list,
  get,
  logs,
  result,
  cancel,
  rerunCommand,
  approve,
  reject,
).addHelpText(
  "after",
  formatExamples("svc job list --status failure --since 2h", "svc job logs $ID --follow"),
);
