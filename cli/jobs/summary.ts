/** A job as a person reads it: its state in one word, its times, and as much of its values as fits a screen. */
import { stripVTControlCharacters } from "node:util";
import chalk from "chalk";
import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { oneLine } from "../terminal/text/output.ts";
import { distance, span } from "../terminal/text/times.ts";
import { errorOf } from "./outcome.ts";

export const STATES = ["queued", "running", "success", "failure", "canceled"] as const;
export type State = (typeof STATES)[number] | "skipped";

export function stateOf(job: JobRecord): State {
  if (job.type === "QueuedJob") return job.running ? "running" : "queued";
  if (job.canceled) return "canceled";
  if (job.is_skipped) return "skipped";
  return job.success ? "success" : "failure";
}

const PAINT: Record<State, (text: string) => string> = {
  queued: chalk.yellow,
  running: chalk.cyan,
  success: chalk.green,
  skipped: chalk.green,
  failure: chalk.red,
  canceled: chalk.magenta,
};

export function paintState(text: string, job: JobRecord): string {
  return PAINT[stateOf(job)](text);
}

/** What was run: the script's path, or what stands for one. */
export function nameOf(job: JobRecord): string {
  return job.script_path ?? `(${job.job_kind})`;
}

/** When it was submitted, or is due if that is to come. */
export function whenOf(job: JobRecord): string {
  return distance(dueOf(job) ?? job.created_at);
}

/** When a job that is scheduled for later is due. */
function dueOf(job: JobRecord): Date | undefined {
  if (stateOf(job) !== "queued" || job.scheduled_for === undefined) return undefined;
  const due = new Date(job.scheduled_for);
  return due.getTime() > Date.now() ? due : undefined;
}

/** How long it ran, or has been running; empty when it has not begun. */
export function tookOf(job: JobRecord): string {
  if (job.type === "CompletedJob") return span(job.duration_ms ?? 0);
  return job.started_at === undefined ? "" : span(since(job.started_at));
}

function since(moment: Date | string): number {
  return Math.max(0, Date.now() - new Date(moment).getTime());
}

function waitedOf(job: JobRecord): string | undefined {
  if (dueOf(job)) return undefined;
  if (stateOf(job) === "queued") return `${span(since(job.scheduled_for ?? job.created_at))} so far`;
  return job.self_wait_time_ms === undefined ? undefined : span(Math.max(0, job.self_wait_time_ms));
}

function moment(at: Date | string | undefined): string | undefined {
  return at === undefined ? undefined : `${new Date(at).toISOString()} (${distance(at)})`;
}

/** All that is known, in lines of at most `width` columns where that can be. */
export function summary(job: JobRecord, width: number): string {
  const state = stateOf(job);
  const facts: [name: string, value: string | undefined][] = [
    ["id", job.id],
    ["kind", [job.job_kind, job.language].filter(Boolean).join(", ")],
    ["version", job.script_hash],
    ["by", job.created_by],
    ["created", moment(job.created_at)],
    ["due", moment(dueOf(job))],
    ["started", moment(job.started_at)],
    ["ended", moment(job.completed_at)],
    ["waited", waitedOf(job)],
    ["took", tookOf(job) || undefined],
    ["worker", job.worker],
    ["tag", job.tag],
    ["walls", job.isolation],
    ["labels", job.labels?.join(", ")],
    ["parent", job.parent_job],
    ["canceled", job.canceled ? `by ${job.canceled_by}: ${job.canceled_reason}` : undefined],
  ];
  const lines = facts
    .filter(([, value]) => value)
    .map(([name, value]) => `${chalk.dim(name.padEnd(10))}${oneLine(value!)}`);
  return [
    `${paintState(state, job)}  ${chalk.bold(oneLine(nameOf(job)))}`,
    ...lines,
    ...section("args", excerpt(job.args, width, `svc job get ${job.id} --json`)),
    ...ending(job, width),
  ].join("\n");
}

function ending(job: JobRecord, width: number): string[] {
  if (job.type !== "CompletedJob") return [];
  const error = errorOf(job);
  if (!error) return section("result", excerpt(job.result, width, `svc job result ${job.id}`));
  const { name, message, trace } = error;
  const told = stripVTControlCharacters(`${name}: ${message}`);
  return section("error", [
    ...told.split("\n").map((line) => chalk.red(line)),
    ...(trace?.split("\n").map((line) => chalk.dim(stripVTControlCharacters(line))) ?? []),
  ]);
}

function section(title: string, lines: string[]): string[] {
  return ["", chalk.dim(title), ...lines.map((line) => `  ${line}`)];
}

const MOST_LINES = 20;

/** JSON cut to a screen; `whole` is the command that prints all of it. */
function excerpt(value: unknown, width: number, whole: string): string[] {
  const lines = (JSON.stringify(value, undefined, 2) ?? "null").split("\n");
  const most = width - "  ".length;
  const shown = lines
    .slice(0, MOST_LINES)
    .map((line) => (line.length > most ? `${line.slice(0, most - 1)}…` : line));
  const cut = lines.length > MOST_LINES || shown.some((line, index) => line !== lines[index]);
  return cut ? [...shown, chalk.dim(`… all ${lines.length} lines: ${whole}`)] : shown;
}
