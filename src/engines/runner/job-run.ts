/** One run of a job in a child process, from start to outcome. */

import type { Indexed } from "../../lib/collections/transient.ts";
import { getSharedFolderPath } from "./files/shared-folder.ts";
import { type AnswerHandler, AnswerReader } from "./job/answer-reader.ts";
import { startChild } from "./job/cold-start.ts";
import {
  createAnswerOutcome,
  createDisconnectedOutcome,
  createExitOutcome,
  createInvalidAnswerOutcome,
  createStartFailure,
  createStreamTooLargeOutcome,
  createTimeoutOutcome,
} from "./job/outcomes.ts";
import { Prefetch } from "./job/prefetch.ts";
import type { Prefetched, QueuedRun, RunHolder } from "./job/queued-run.ts";
import { readOutcomeFiles } from "./job/replaced-outcome.ts";
import type { RunContext } from "./job/run-context.ts";
import { RunFacts } from "./job/run-facts.ts";
import type { OutputSink } from "./output/child-output.ts";
import { ResultStream } from "./output/result-stream.ts";
import { type Child, EXIT_GRACE_MS } from "./process/child.ts";
import { endChild } from "./process/end-child.ts";
import { maskTokenIn } from "./process/job-token.ts";
import { createRunMessage } from "./process/run-message.ts";
import { replacesChild, runsInChild } from "./programs/hosted.ts";
import type { Done } from "./protocol.ts";
import type { WatchedJob } from "./sandbox/watch/resource-watch.ts";
import type { ChildExit, JobError, RunOutcome } from "./types.ts";

export class JobRun extends RunFacts implements WatchedJob, AnswerHandler, RunHolder, OutputSink, Indexed {
  index = -1;
  readonly #context: RunContext<JobRun>;
  /** Whether it was sent to its child in advance. */
  readonly #wasPrefetched: boolean;
  #token: string | undefined;
  #child: Child | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #settled = false;
  /** Created on first use. */
  #stream: ResultStream | undefined;
  /** The child is being terminated; its further messages are ignored. */
  #stopping = false;
  /** Aborted if the run ends while its files are still being written. */
  #preparing: AbortController | undefined;
  /** Set once the run was sent to its child. */
  #reader: AnswerReader | undefined;
  /** Its outcome if it ends before it answers, once it is to be stopped. */
  #stopAs: RunOutcome | undefined;
  /** Set if its child must not take another job. */
  retired = false;
  /** Further runs that were sent to its child in advance. */
  readonly prefetch: Prefetch;

  /** @param prefetch runs that its child received in advance, if this was one of them */
  constructor(context: RunContext<JobRun>, run: QueuedRun, prefetch: Prefetch | undefined) {
    super(context.options, run);
    this.#context = context;
    this.#wasPrefetched = prefetch !== undefined;
    this.prefetch = prefetch ?? new Prefetch();
  }

  /** Starts the run. @param warm an idle warm child with this key, if any; then no process has to be started */
  start(warm: Child | undefined): void {
    if (warm) this.#startWarm(warm);
    else this.#startCold().catch((cause) => this.#failToStart(cause));
  }

  #startWarm(child: Child): void {
    this.#giveToken(child);
    try {
      this.#begin(child);
    } catch (cause) {
      this.#failToStart(cause);
    }
  }

  /** Takes over a run that was prefetched by its child and may have started. */
  adopt(child: Child, { token, sequence }: Prefetched): void {
    this.prefetch.isHeld = false;
    this.#setToken(child, token);
    this.#listen(child, sequence);
  }

  /** Milliseconds until its child has run what it was sent; undefined if it takes no more. @param isFree a slot is free */
  backlogMs(now: number, isFree: boolean): number | undefined {
    if (this.#reader?.isAnswered !== false || this.hasEnded || this.retired || this.#stopAs) return undefined;
    const isOpen = runsInChild(this.request.version.language) && this.prefetch.isOpen(this.#child!, isFree);
    return isOpen ? now - this.since + this.prefetch.backlogMs(this.#child!) : undefined;
  }

  /** Sends its child a further run in advance. @returns false if the run must wait in the queue */
  sendAhead(run: QueuedRun): boolean {
    return this.prefetch.send(this.#child!, run, this.options);
  }

  /** Requests the prefetched runs that its child has not started. */
  recall(): void {
    if (this.#reader) this.prefetch.recall(this.#child!);
  }

  onReturned(runs: Prefetched[]): void {
    this.#context.onReturned(runs);
  }

  onRecalled(): void {
    if (this.#stopAs && !this.#reader?.isAnswered) this.#end(this.#stopAs);
  }

  #failToStart(cause: unknown): void {
    const outcome = createStartFailure(cause, this.#child?.output.lastLines() ?? "", this.options.log);
    if (outcome.kind === "postponed") this.#context.onShortage(cause);
    this.#settle(outcome, false);
  }

  async #startCold(): Promise<void> {
    this.#arm();
    this.#preparing = new AbortController();
    const child = await startChild(this.run, this.#context, this.#preparing.signal, (taken) => {
      this.#child = taken;
      this.#giveToken(taken);
      taken.output.begin(this, taken.runs_sent);
      this.#maskArguments(taken);
    });
    if (child && !this.hasEnded) this.#begin(child);
  }

  /** Starts the job in a loaded child, with one message in each direction. */
  #begin(child: Child): void {
    const { request, options } = this;
    child.shared = request.shared;
    const message = createRunMessage(child, request, options);
    this.#listen(child, message.sequence);
    if (child.exited) {
      this.#exited(child.exited);
      return;
    }
    try {
      child.send(message);
    } catch {
      this.onLost();
    }
    child.environment = request.environment;
  }

  /** Handles the child's messages as those of this run. */
  #listen(child: Child, sequence: number): void {
    this.#child = child;
    const reader = new AnswerReader(child, sequence, this.request, this.options, this);
    this.#reader = reader;
    this.#arm();
    child.output.begin(this, sequence);
    this.#maskArguments(child);
    child.onMessage = (message) => reader.receive(message);
    child.onDisconnect = (problem) => this.onLost(problem);
    child.onExit = (exit) => this.#exited(exit);
  }

  /** Issues a token for this job to the child; the token expires when the job ends. */
  #giveToken(child: Child): void {
    child.token = child.tokens!.begin(this.request.job_id);
    this.#setToken(child, child.token);
  }

  #setToken(child: Child, token: string): void {
    this.#token = token;
    child.output.secrets.token = token;
  }

  #maskArguments(child: Child): void {
    for (const secret of this.request.secrets ?? []) child.output.secrets.add(secret);
  }

  /** Waits briefly, because an exiting process closes its channel first, and its exit status is more informative. */
  onLost(problem?: string): void {
    if (problem === undefined && replacesChild(this.request.version.language)) return;
    setTimeout(() => this.#end(createDisconnectedOutcome(problem)), EXIT_GRACE_MS);
  }

  onStream(text: string): void {
    if (this.hasEnded) return;
    const { request, options } = this;
    const limit = options.max_stream_bytes;
    this.#stream ??= new ResultStream(this.#child!.output.secrets, request.onStream, limit);
    if (!this.#stream.push(text)) this.#end(createStreamTooLargeOutcome(limit));
  }

  #arm(): void {
    this.#deadline = performance.now() + this.request.timeout_ms;
  }

  onDone(done: Done): void {
    if (this.hasEnded) return;
    const child = this.#child!;
    const isShared = this.request.version.isolation === "shared";
    const reusable = isShared && !done.leftovers;
    child.pace.count(done, child.tokens!.areUsed());
    const outcome = createAnswerOutcome(done, this.request, child.output);
    if (reusable) this.#settle(outcome, true);
    else this.#end(outcome);
  }

  /** Kills the child and everything it started before reporting the outcome. */
  #end(outcome: RunOutcome): void {
    if (this.hasEnded) return;
    this.#stopping = true;
    this.#preparing?.abort();
    const child = this.#child;
    const { request, options } = this;
    const ending = child && endChild(child, request.version.language, options.log);
    if (ending) void ending.then(() => this.#settle(outcome, false));
    else this.#settle(outcome, false);
  }

  onInvalid(fault: string): void {
    this.#end(createInvalidAnswerOutcome(fault));
  }

  /** Whether its outcome is final, or its child is being terminated. */
  get hasEnded(): boolean {
    return this.#stopping || this.#settled;
  }

  /**
   * Ends the run. If it or others were prefetched, these are recalled first: its process may have answered it and be at
   * one of those, which the server has not read yet. Then it is as if it had ended before.
   */
  stop(outcome: RunOutcome): void {
    if (this.hasEnded) return;
    if (this.#wasPrefetched || this.prefetch.runs.length > 0) {
      this.#stopAs = outcome;
      void this.prefetch.tryRecall(this.#child!).then(() => this.onRecalled());
    } else this.#end(outcome);
  }

  cancelRun(): void {
    this.stop({ kind: "canceled" });
  }

  /** Called when the process exceeds a resource limit. */
  fail(error: JobError): void {
    this.#end({ kind: "failure", error });
  }

  get pid(): number | undefined {
    return this.#stopping || this.#settled ? undefined : this.#child?.pid;
  }

  get folders(): string[] {
    if (!this.#child) return [];
    const { folder, shared } = this.#child;
    return shared === undefined ? [folder] : [folder, getSharedFolderPath(this.options.directory, shared)];
  }

  get since(): number {
    return this.#deadline - this.request.timeout_ms;
  }

  /** Masks `secret` from now on in the logs and streams of this job and of later jobs of its process. */
  mask(secret: string): void {
    this.#child?.output.secrets.add(secret);
  }

  checkDeadline(now: number): void {
    if (now < this.#deadline || this.#stopping) return;
    this.#end(createTimeoutOutcome(this.request.timeout_ms));
  }

  #settle(outcome: RunOutcome, reusable: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    if (this.#child) this.#child.onExit = undefined;
    if (this.#token !== undefined) this.#child?.tokens?.end(this.#token);
    this.#child?.output.end();
    this.#stream?.end();
    if (this.#child) maskTokenIn(outcome, this.#child);
    this.#context.onFinished(this, outcome, this.#child, reusable);
    this.#reader?.passOn();
  }

  #exited(exit: ChildExit): void {
    const { request, options } = this;
    const child = this.#child!;
    if (replacesChild(request.version.language)) {
      this.#stopping = true;
      readOutcomeFiles(child, exit, options.max_result_bytes).then((outcome) => this.#settle(outcome, false));
    } else this.#settle(this.#stopAs ?? createExitOutcome(exit, child.output.lastLines()), false);
  }
}
