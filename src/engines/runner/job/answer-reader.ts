/** Reads a child's messages for one run, up to the run's answer. */
import { findAnswerFault, findLongAnswerFault, isCount, isLongAnswer } from "../output/validate-answer.ts";
import { type Child, callWhenOutputRead } from "../process/child.ts";
import type { Done, FromChild, RecallReply } from "../protocol.ts";
import type { RunnerOptions, RunRequest } from "../types.ts";
import type { Prefetch } from "./prefetch.ts";
import type { Prefetched } from "./queued-run.ts";
import { resolvePreprocessed } from "./resolve-preprocessed.ts";

/** Maximum number of messages kept while an answer is being processed. */
const MAX_UNREAD = 10_000;

/** Callbacks for the child's messages. None is called after the run has ended. */
export interface AnswerHandler {
  readonly hasEnded: boolean;
  onStream(text: string): void;
  /** The runs that the child has received in advance. */
  readonly prefetch: Prefetch;
  /** Called when the child has dropped these prefetched runs. */
  onReturned(runs: Prefetched[]): void;
  /** Called when the child has answered a recall, and no run is left behind this one. */
  onRecalled(): void;
  /** Called when the child can no longer receive messages. */
  onLost(): void;
  /** Called when the child's answer fails validation. @param fault reason why the answer is invalid */
  onInvalid(fault: string): void;
  /** Called with the answer once all output of the run has been read. */
  onDone(done: Done): void;
}

export class AnswerReader {
  readonly #child: Child;
  readonly #request: RunRequest;
  readonly #options: RunnerOptions;
  readonly #run: AnswerHandler;
  readonly #sequence: number;
  /** References in a preprocessor's result are resolved only once. */
  #mayRefer: boolean;
  #isAnswered = false;

  /** Creates the reader of one run's messages. @param sequence number of the run among those of the child */
  constructor(
    child: Child,
    sequence: number,
    request: RunRequest,
    options: RunnerOptions,
    run: AnswerHandler,
  ) {
    this.#child = child;
    this.#sequence = sequence;
    this.#request = request;
    this.#options = options;
    this.#run = run;
    this.#mayRefer = request.preprocessor_input !== undefined;
  }

  /** Whether the answer has arrived; its output and other parts may still be missing. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** User code can write to the channel too, so messages are validated. */
  receive(message: FromChild): void {
    if (this.#run.hasEnded) return;
    if (message.t === "recalled") this.#endRecall(message);
    else if (this.#isAnswered) this.#keepForLater(message);
    else if (message.t === "done") this.#answer(message);
    else if (message.t === "stream" && typeof message.text === "string") {
      // Databases cannot store NUL.
      this.#run.onStream(message.text.replaceAll("\0", "\ufffd"));
    } else if (message.t === "refer" && typeof message.args === "string" && this.#mayRefer) {
      this.#mayRefer = false;
      void this.#refer(message.args);
    }
  }

  /** Keeps a message that follows the answer, if there is a run that it may belong to. */
  #keepForLater(message: FromChild): void {
    const { runs, unread } = this.#run.prefetch;
    if (runs.length === 0) return;
    if (unread.length < MAX_UNREAD) unread.push(message);
    else this.#run.onInvalid("with more messages than can be read");
  }

  /**
   * Passes messages that arrived after the answer to the prefetched runs behind, and then the failure of the process,
   * if any. So every run that was answered gets its answer.
   */
  passOn(): void {
    const child = this.#child;
    const { prefetch } = this.#run;
    while (!prefetch.isHeld && prefetch.unread.length > 0) child.onMessage?.(prefetch.unread.shift()!);
    if (prefetch.isHeld) return;
    if (child.isDrained) child.onExit?.(child.exited!);
    else if (!child.isUsable && !child.exited) child.onDisconnect?.(undefined);
  }

  /** A run that is to be stopped is stopped now, because no run behind it can have started. */
  #endRecall(message: RecallReply): void {
    const returned = this.#run.prefetch.endRecall(this.#child, message);
    if (!returned) return;
    this.#run.onReturned(returned);
    this.#run.onRecalled();
  }

  async #refer(args: string): Promise<void> {
    const child = this.#child;
    const reply = await resolvePreprocessed(child, args, this.#request, this.#options.log);
    if (this.#run.hasEnded || child.exited) return;
    try {
      child.send(reply);
    } catch {
      this.#run.onLost();
    }
  }

  #answer(done: Done): void {
    this.#isAnswered = true;
    this.#run.prefetch.isHeld = true;
    if (done.sequence !== undefined && done.sequence !== this.#sequence) {
      this.#run.onInvalid("for another job");
      return;
    }
    // Immediately: a recall that is answered later counts from the remaining runs.
    if (isCount(done.dropped) && done.dropped > 0)
      this.#run.onReturned(this.#run.prefetch.takeBack(this.#child, done.dropped));
    const limit = this.#options.max_result_bytes;
    if (!isLongAnswer(done)) {
      this.#check(done, findAnswerFault(done, limit));
      return;
    }
    // The answer is valid even if the process ends in the meantime.
    this.#child.onExit = undefined;
    void findLongAnswerFault(done, limit).then((fault) => this.#check(done, fault));
  }

  #check(done: Done, fault: string | undefined): void {
    if (this.#run.hasEnded) return;
    if (fault !== undefined) this.#run.onInvalid(fault);
    else if (done.fence === 0) this.#run.onDone(done);
    else callWhenOutputRead(this.#child, done.fence, () => this.#run.onDone(done));
  }
}
