/** Reads a child's messages for one run, up to the run's answer. */
import { findAnswerFault, findLongAnswerFault, isLongAnswer } from "../output/validate-answer.ts";
import { afterOutput, type Child } from "../process/child.ts";
import type { Done, FromChild } from "../protocol.ts";
import type { RunnerOptions, RunRequest } from "../types.ts";
import { resolvePreprocessed } from "./resolve-preprocessed.ts";

/** Callbacks for the child's messages. None is called after the run has ended. */
export interface AnswerHandler {
  readonly hasEnded: boolean;
  onStream(text: string): void;
  /** The child has dropped the first `count` runs that it received in advance. */
  onReturned(count: number): void;
  /** The child can no longer receive messages. */
  onLost(): void;
  /** @param fault reason why the answer is invalid */
  onInvalid(fault: string): void;
  /** All output of the run has been read as well. */
  onDone(done: Done): void;
}

export class AnswerReader {
  readonly #child: Child;
  readonly #request: RunRequest;
  readonly #options: RunnerOptions;
  readonly #run: AnswerHandler;
  /** References in a preprocessor's result are resolved only once. */
  #mayRefer: boolean;
  #isAnswered = false;
  /** Messages of the following runs. */
  #later: FromChild[] | undefined;

  constructor(child: Child, request: RunRequest, options: RunnerOptions, run: AnswerHandler) {
    this.#child = child;
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
    if (message.t === "recalled") this.#run.onReturned(message.count);
    else if (this.#isAnswered) this.#later = [...(this.#later ?? []), message];
    else if (message.t === "done") this.#answer(message);
    else if (message.t === "stream" && typeof message.text === "string") {
      // Databases cannot store NUL.
      this.#run.onStream(message.text.replaceAll("\0", "\ufffd"));
    } else if (message.t === "refer" && typeof message.args === "string" && this.#mayRefer) {
      this.#mayRefer = false;
      void this.#refer(message.args);
    }
  }

  /** Passes messages that arrived after the answer to the current listener. */
  passOn(): void {
    for (const message of this.#later ?? []) this.#child.onMessage?.(message);
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
    // Immediately: a recall that is answered later counts from the remaining runs.
    if (done.dropped) this.#run.onReturned(done.dropped);
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
    else afterOutput(this.#child, done.fence, () => this.#run.onDone(done));
  }
}
