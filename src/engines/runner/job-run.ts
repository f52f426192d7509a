/** One run of a job in a child process, from start to outcome. */
import { sharedFolderPath } from "./files/shared-folder.ts";
import { assign, startVersion } from "./job/cold-start.ts";
import type { JobRunOptions } from "./job/job-run-options.ts";
import {
  answered,
  disconnectedOutcome,
  exitedOutcome,
  invalidAnswerOutcome,
  notStartedOutcome,
  streamTooLargeOutcome,
  timeoutOutcome,
} from "./job/outcomes.ts";
import { replacedOutcome } from "./job/replaced-outcome.ts";
import { resolvePreprocessed } from "./job/resolve-preprocessed.ts";
import type { OutputSink } from "./output/child-output.ts";
import { ResultStream } from "./output/result-stream.ts";
import { findAnswerFault, findLongAnswerFault, isLongAnswer } from "./output/validate-answer.ts";
import { cancelRemoteQuery } from "./process/cancel-query.ts";
import { afterOutput, type Child, EXIT_GRACE_MS } from "./process/child.ts";
import { maskTokenIn } from "./process/job-token.ts";
import { createRunMessage } from "./process/run-message.ts";
import { isHosted, replacesChild } from "./programs/hosted.ts";
import type { Done, FromChild } from "./protocol.ts";
import type { WatchedJob } from "./sandbox/watch/resource-watch.ts";
import type { ChildExit, JobError, JobLimits, RunOutcome } from "./types.ts";

export class JobRun implements WatchedJob {
  readonly #o: JobRunOptions;
  #child: Child | undefined;
  #deadline = Number.POSITIVE_INFINITY;
  #settled = false;
  /** Created on first use. */
  #stream: ResultStream | undefined;
  /** The child is being ended; its further messages are ignored. */
  #stopping = false;
  /** Aborted when the run ends while its files are written. */
  #preparing: AbortController | undefined;
  /** References in a preprocessor's result are resolved once only. */
  #mayRefer: boolean;
  /** Set if its child must not take another job. */
  retired = false;

  constructor(options: JobRunOptions) {
    this.#o = options;
    this.#mayRefer = options.request.preprocessor_input !== undefined;
  }

  get key(): string {
    return this.#o.key;
  }

  /** Starts the run. @param warm a warm child with this key, if any; no waiting is needed then */
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

  #failToStart(cause: unknown): void {
    const outcome = notStartedOutcome(cause, this.#child?.output.lastLines() ?? "", this.#o.options.log);
    if (outcome.kind === "postponed") this.#o.onShortage(cause);
    this.#settle(outcome, false);
  }

  async #startCold(): Promise<void> {
    const { request, files, options, runtime } = this.#o;
    const { version } = request;
    this.#arm();
    if (!files.has(version)) {
      this.#preparing = new AbortController();
      await files.ensure(version, this.#preparing.signal);
    }
    const interpreter = await this.#o.interpreter(version);
    if (this.#stopping || this.#settled) return;
    const child = this.#o.takeBlank(interpreter);
    this.#child = child;
    assign(child, this.#o.key, request, options);
    this.#giveToken(child);
    const file = files.place(version, child.code);
    child.output.begin(this.#sink());
    this.#maskArguments(child);
    await startVersion({ child, request, runtime, file, tool: interpreter });
    if (this.#stopping || this.#settled) return;
    this.#begin(child);
  }

  /** Starts the job in a loaded child: one message to it, one back. */
  #begin(child: Child): void {
    const { request, options } = this.#o;
    this.#child = child;
    this.#arm();
    child.shared = request.shared;
    child.output.begin(this.#sink());
    this.#maskArguments(child);
    child.onMessage = (message) => this.#onMessage(message);
    child.onDisconnect = (problem) => this.#channelLost(problem);
    child.onExit = (exit) => this.#exited(exit);
    if (child.exited) this.#exited(child.exited);
    if (child.exited) return;
    const message = createRunMessage(child, request, options);
    try {
      child.send(message);
    } catch {
      this.#channelLost();
    }
    child.environment = request.environment;
  }

  /** Gives the child a token for this job, which expires with the job. */
  #giveToken(child: Child): void {
    child.token = child.tokens!.begin(this.#o.request.job_id);
    child.output.secrets.token = child.token;
  }

  #maskArguments(child: Child): void {
    for (const secret of this.#o.request.secrets ?? []) child.output.secrets.add(secret);
  }

  async #refer(args: string): Promise<void> {
    const child = this.#child!;
    const answer = await resolvePreprocessed(child, args, this.#o.request, this.#o.options.log);
    if (this.#stopping || this.#settled || child.exited) return;
    try {
      child.send(answer);
    } catch {
      this.#channelLost();
    }
  }

  /** Waits a moment, because an exiting process closes its channel first, and its exit status says more. */
  #channelLost(problem?: string): void {
    if (problem === undefined && replacesChild(this.#o.request.version.language)) return;
    setTimeout(() => this.#end(disconnectedOutcome(problem)), EXIT_GRACE_MS);
  }

  #sink(): OutputSink {
    const { request, options } = this.#o;
    return {
      onLog: request.onLog,
      onStream: (text) => this.#onStream(text),
      max_bytes: options.max_log_bytes,
      keep_last_line: request.version.language === "bash",
    };
  }

  #onStream(text: string): void {
    if (this.#stopping || this.#settled) return;
    const { request, options } = this.#o;
    const limit = options.max_stream_bytes;
    this.#stream ??= new ResultStream(this.#child!.output.secrets, request.onStream, limit);
    if (!this.#stream.push(text)) this.#end(streamTooLargeOutcome(limit));
  }

  #arm(): void {
    this.#deadline = performance.now() + this.#o.request.timeout_ms;
  }

  #onMessage(message: FromChild): void {
    if (this.#stopping) return;
    // User code can write to the channel too, so messages are validated.
    if (message.t === "stream" && typeof message.text === "string") {
      // Databases cannot store NUL.
      this.#onStream(message.text.replaceAll("\0", "\ufffd"));
    }
    if (message.t === "refer" && typeof message.args === "string" && this.#mayRefer) {
      this.#mayRefer = false;
      void this.#refer(message.args);
    }
    if (message.t !== "done") return;
    const limit = this.#o.options.max_result_bytes;
    if (!isLongAnswer(message)) {
      this.#answered(message, findAnswerFault(message, limit));
      return;
    }
    // The answer counts even if the process ends meanwhile.
    this.#child!.onExit = undefined;
    void findLongAnswerFault(message, limit).then((fault) => this.#answered(message, fault));
  }

  /** @param fault reason why the answer is invalid */
  #answered(message: Done, fault: string | undefined): void {
    if (this.#stopping || this.#settled) return;
    if (fault !== undefined) {
      this.#end(invalidAnswerOutcome(fault));
      return;
    }
    if (message.fence === 0) {
      this.#done(message);
      return;
    }
    afterOutput(this.#child!, message.fence, () => this.#done(message));
  }

  #done(done: Done): void {
    if (this.#settled || this.#stopping) return;
    const child = this.#child!;
    const isShared = this.#o.request.version.isolation === "shared";
    const reusable = isShared && !done.leftovers && !child.output.secrets.isFull;
    const outcome = answered(done, this.#o.request, child.output);
    if (reusable) this.#settle(outcome, true);
    else this.#end(outcome);
  }

  /** Ends the child and everything it started before reporting the outcome. */
  #end(outcome: RunOutcome): void {
    if (this.#stopping || this.#settled) return;
    this.#stopping = true;
    this.#preparing?.abort();
    const child = this.#child;
    if (!child) {
      this.#settle(outcome, false);
      return;
    }
    Object.assign(child, { onExit: undefined, onMessage: undefined, onDisconnect: undefined });
    cancelRemoteQuery(child, this.#o.request.version.language)
      .then(() => child.destroy())
      .then(
        () => this.#settle(outcome, false),
        (cause) => {
          this.#o.options.log("error", "a script process could not be ended", { error: String(cause) });
          this.#settle(outcome, false);
        },
      );
  }

  stop(outcome: RunOutcome): void {
    this.#end(outcome);
  }

  get job_id(): string {
    return this.#o.request.job_id;
  }

  /** Called when the process exceeds a resource limit. */
  fail(error: JobError): void {
    this.#end({ kind: "failure", error });
  }

  get pid(): number | undefined {
    return this.#stopping || this.#settled ? undefined : this.#child?.pid;
  }

  get isHosted(): boolean {
    return isHosted(this.#o.request.version.language);
  }

  get folders(): string[] {
    if (!this.#child) return [];
    const { folder, shared } = this.#child;
    return shared === undefined ? [folder] : [folder, sharedFolderPath(this.#o.options.directory, shared)];
  }

  get since(): number {
    return this.#deadline - this.#o.request.timeout_ms;
  }

  get limits(): JobLimits {
    const { request, options } = this.#o;
    return { ...options.limits, memory_mb: request.version.memory_mb ?? options.limits.memory_mb };
  }

  /** Masks `secret` from now on in the logs and streams of this job and of later jobs of its process. */
  mask(secret: string): void {
    this.#child?.output.secrets.add(secret);
  }

  checkDeadline(now: number): void {
    if (now < this.#deadline || this.#stopping) return;
    this.#end(timeoutOutcome(this.#o.request.timeout_ms));
  }

  #settle(outcome: RunOutcome, reusable: boolean): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#child?.tokens?.end();
    this.#child?.output.end();
    this.#stream?.end();
    if (this.#child) maskTokenIn(outcome, this.#child);
    this.#o.onFinished(outcome, this.#child, reusable);
  }

  #exited(exit: ChildExit): void {
    const { request, options } = this.#o;
    const child = this.#child!;
    if (replacesChild(request.version.language)) {
      this.#stopping = true;
      replacedOutcome(child, exit, options.max_result_bytes).then((outcome) => this.#settle(outcome, false));
    } else this.#settle(exitedOutcome(exit, child.output.lastLines()), false);
  }
}
