/** Formats a job for people: its state, its times, and an excerpt of its values that fits the screen. */
import { stripVTControlCharacters } from "node:util";
import chalk from "chalk";
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { toOneLine } from "../terminal/text/output.ts";
import { formatDistance, formatDuration } from "../terminal/text/times.ts";
import { readJobError } from "./outcome.ts";

export const STATES = ["queued", "running", "waiting", "success", "failure", "canceled"] as const;
export type State = (typeof STATES)[number] | "skipped";

/** Returns the job's state; a flow that waits for approval is `waiting`. */
export function getJobState(job: JobRecord): State {
  if (job.type === "QueuedJob")
    return job.suspend !== undefined ? "waiting" : job.running ? "running" : "queued";
  if (job.canceled) return "canceled";
  if (job.is_skipped) return "skipped";
  return job.success ? "success" : "failure";
}

const STATE_COLORS: Record<State, (text: string) => string> = {
  queued: chalk.yellow,
  running: chalk.cyan,
  waiting: chalk.yellow,
  success: chalk.green,
  skipped: chalk.green,
  failure: chalk.red,
  canceled: chalk.magenta,
};

export function paintState(text: string, job: JobRecord): string {
  return STATE_COLORS[getJobState(job)](text);
}

/** Returns the script's path, or the kind of job in parentheses. */
export function formatJobName(job: JobRecord): string {
  return job.script_path ?? `(${job.job_kind})`;
}

/** Formats when it was submitted, or is due. */
export function formatDueTime(job: JobRecord): string {
  return formatDistance(findDueTime(job) ?? job.created_at);
}

/** Finds when a scheduled job is due; undefined if it is due already. */
function findDueTime(job: JobRecord): Date | undefined {
  if (getJobState(job) !== "queued" || job.scheduled_for === undefined) return undefined;
  const due = new Date(job.scheduled_for);
  return due.getTime() > Date.now() ? due : undefined;
}

/** Formats the duration, so far if it is running; empty if it has not started. */
export function formatJobDuration(job: JobRecord): string {
  if (job.type === "CompletedJob") return formatDuration(job.duration_ms ?? 0);
  return job.started_at === undefined ? "" : formatDuration(measureMsSince(job.started_at));
}

function measureMsSince(moment: Date | string): number {
  return Math.max(0, Date.now() - new Date(moment).getTime());
}

function formatWait(job: JobRecord): string | undefined {
  if (findDueTime(job)) return undefined;
  if (getJobState(job) === "queued")
    return `${formatDuration(measureMsSince(job.scheduled_for ?? job.created_at))} so far`;
  return job.self_wait_time_ms === undefined ? undefined : formatDuration(Math.max(0, job.self_wait_time_ms));
}

function formatMoment(at: Date | string | undefined): string | undefined {
  return at === undefined ? undefined : `${new Date(at).toISOString()} (${formatDistance(at)})`;
}

/**
 * Formats everything known about a job, in lines of at most `width` columns if possible.
 * @param steps of a flow, drawn as a tree
 */
export function formatJobSummary(job: JobRecord, width: number, steps: string[] = []): string {
  const state = getJobState(job);
  const facts: [name: string, value: string | undefined][] = [
    ["id", job.id],
    ["kind", [job.job_kind, job.language].filter(Boolean).join(", ")],
    ["version", job.script_hash],
    ["by", job.created_by],
    ["created", formatMoment(job.created_at)],
    ["due", formatMoment(findDueTime(job))],
    ["started", formatMoment(job.started_at)],
    ["ended", formatMoment(job.completed_at)],
    ["waited", formatWait(job)],
    ["took", formatJobDuration(job) || undefined],
    ["worker", job.worker],
    ["tag", job.tag],
    ["sandbox", job.isolation],
    ["labels", job.labels?.join(", ")],
    ["parent", job.parent_job],
    ["canceled", job.canceled ? `by ${job.canceled_by}: ${job.canceled_reason}` : undefined],
  ];
  const lines = facts
    .filter(([, value]) => value)
    .map(([name, value]) => `${chalk.dim(name.padEnd(10))}${toOneLine(value!)}`);
  return [
    `${paintState(state, job)}  ${chalk.bold(toOneLine(formatJobName(job)))}`,
    ...lines,
    ...(steps.length > 0 ? ["", chalk.dim("steps"), ...steps] : []),
    ...formatSection("args", formatExcerpt(job.args, width, `svc job show ${job.id} --json`)),
    ...formatOutcome(job, width),
  ].join("\n");
}

function formatOutcome(job: JobRecord, width: number): string[] {
  if (job.type !== "CompletedJob") return [];
  const error = readJobError(job);
  if (!error) return formatSection("result", formatExcerpt(job.result, width, `svc job result ${job.id}`));
  const { title, trace } = error;
  return formatSection("error", [
    ...stripVTControlCharacters(title)
      .split("\n")
      .map((line) => chalk.red(line)),
    ...(trace?.split("\n").map((line) => chalk.dim(stripVTControlCharacters(line))) ?? []),
  ]);
}

function formatSection(title: string, lines: string[]): string[] {
  return ["", chalk.dim(title), ...lines.map((line) => `  ${line}`)];
}

const MAX_LINES = 20;

/** Formats JSON, truncated to a screen. `whole` is the command that prints all of it. */
function formatExcerpt(value: unknown, width: number, whole: string): string[] {
  const lines = (JSON.stringify(value, undefined, 2) ?? "null").split("\n");
  const limit = width - "  ".length;
  const shown = lines
    .slice(0, MAX_LINES)
    .map((line) => (line.length > limit ? `${line.slice(0, limit - 1)}…` : line));
  const cut = lines.length > MAX_LINES || shown.some((line, index) => line !== lines[index]);
  return cut ? [...shown, chalk.dim(`… all ${lines.length} lines: ${whole}`)] : shown;
}
