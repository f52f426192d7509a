/** A program of the machine, such as a package client, run behind the walls of jobs and within their limits. */
import { lchown, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ToolOutcome, ToolRequest } from "../packages/tool.ts";
import type { Watched } from "../sandbox/watch/watch.ts";
import type { JobError, JobLimits } from "../types.ts";
import type { Child } from "./child.ts";

interface ToolRunOptions {
  request: ToolRequest;
  child: Child;
  limits: JobLimits;
  max_log_bytes: number;
}

/** One run of a tool in one blank child, which becomes the tool. Its child is the caller's to destroy. */
export class ToolRun implements Watched {
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

  /** Resolves when the program has ended, or has to be ended. */
  async run(): Promise<ToolOutcome> {
    const { request, child, max_log_bytes } = this.#o;
    const { folder } = child;
    for (const [name, text] of Object.entries(request.files)) await Bun.write(join(folder, name), text);
    if (child.uid !== undefined) await giveFolder(folder, child.uid);
    child.output.begin({ onLog: request.onLog, onStream: () => {}, max_bytes: max_log_bytes });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const abort = () => this.#stop({ name: "Canceled", message: `${request.name} was stopped` });
    try {
      return await new Promise<ToolOutcome>((resolve) => {
        this.#stop = (error) => resolve({ stopped: error });
        timer = setTimeout(
          () => this.#stop({ name: "ExecutionErr", message: tooLong(request) }),
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
          environment: { ...child.base, ...request.environment },
          keep_channel: false,
        });
      });
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", abort);
    }
  }
}

function tooLong({ name, timeout_ms }: ToolRequest): string {
  return `${name} did not end within ${Math.round(timeout_ms / 60_000)} minutes and was stopped`;
}

/** Makes all that is in a folder a user's own. Nothing of the user runs yet. */
async function giveFolder(folder: string, uid: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    await lchown(join(entry.parentPath, entry.name), uid, uid);
}
