/** Runs a program of the machine, such as a package client, in the sandbox and limits of jobs. */
import { lchown } from "node:fs/promises";
import { join } from "node:path";
import { walkFolder } from "../../../lib/files/walk-folder.ts";
import type { ToolOutcome, ToolRequest } from "../packages/tool.ts";
import type { WatchedJob } from "../sandbox/watch/resource-watch.ts";
import type { JobError, JobLimits } from "../types.ts";
import type { Child } from "./child.ts";

interface ToolRunOptions {
  request: ToolRequest;
  child: Child;
  limits: JobLimits;
  max_log_bytes: number;
}

/** One run of a tool, which replaces a blank child. The caller destroys the child. */
export class ToolRun implements WatchedJob {
  readonly #o: ToolRunOptions;
  readonly job_id: string;
  readonly since = performance.now();
  #stop!: (error: JobError) => void;

  constructor(options: ToolRunOptions) {
    this.#o = options;
    this.job_id = options.request.name;
  }

  get pid(): number | undefined {
    return this.#o.child.exited ? undefined : this.#o.child.pid;
  }

  get folders(): string[] {
    return [this.#o.child.folder];
  }

  get limits(): JobLimits {
    return this.#o.limits;
  }

  fail(error: JobError): void {
    this.#stop(error);
  }

  /** Resolves when the program has ended or must be ended. */
  async run(): Promise<ToolOutcome> {
    const { request, child, max_log_bytes } = this.#o;
    const { folder } = child;
    for (const [name, text] of Object.entries(request.files)) await Bun.write(join(folder, name), text);
    // No process of that user is running yet.
    const { uid } = child;
    if (uid !== undefined) for await (const path of walkFolder(folder)) await lchown(path, uid, uid);
    child.output.begin({ onLog: request.onLog, onStream: () => {}, max_bytes: max_log_bytes }, 0);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = () => this.#stop({ name: "Canceled", message: `${request.name} was stopped` });
    try {
      return await new Promise<ToolOutcome>((resolve) => {
        this.#stop = (error) => resolve({ stopped: error });
        timer = setTimeout(
          () => this.#stop({ name: "ExecutionErr", message: timeoutMessage(request) }),
          request.timeout_ms,
        );
        request.signal?.addEventListener("abort", abort, { once: true });
        if (request.signal?.aborted) abort();
        child.onMessage = (message) => {
          if (message.t === "load_failed") this.#stop(message.error);
        };
        child.onExit = (exit) => {
          child.output.end();
          resolve({ exit, lastLines: child.output.lastLines() });
        };
        if (child.exited) child.onExit(child.exited);
        child.send({
          t: "exec",
          program: request.program,
          argv: [request.program, ...request.argv.map((each) => each.replaceAll("{folder}", folder))],
          environment: { ...child.base_environment, ...request.environment },
          keep_channel: false,
        });
      });
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", abort);
    }
  }
}

function timeoutMessage({ name, timeout_ms }: ToolRequest): string {
  return `${name} did not end within ${Math.round(timeout_ms / 60_000)} minutes and was stopped`;
}
