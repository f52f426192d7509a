import type { RuntimeFiles } from "../files/runtime-files.ts";
import type { VersionFiles } from "../files/version-files.ts";
import type { OutputSink } from "../output/child-output.ts";
import type { Child } from "../process/child.ts";
import type { Tool } from "../programs/tools.ts";
import type { RunnableVersion, RunnerOptions, RunOutcome, RunRequest } from "../types.ts";
import type { Prefetch } from "./prefetch.ts";
import type { Prefetched } from "./queued-run.ts";

/** Options of the runner for one run of a job. */
export interface JobRunOptions {
  request: RunRequest;
  options: RunnerOptions;
  key: string;
  /** Further runs that its child received in advance; undefined: none. */
  prefetch: Prefetch | undefined;
  runtime: RuntimeFiles;
  files: VersionFiles;
  /**
   * Finds the program that runs a script; undefined if it needs no program of the machine.
   * @throws DependencyError
   */
  interpreter: (version: RunnableVersion) => Promise<Tool | undefined>;
  /**
   * Takes a blank child, one started in advance if possible.
   * @param tool program that runs the script; the child may read its folders
   */
  takeBlank: (tool: Tool | undefined) => Child;
  /** Reports that the machine lacks resources to start a process. */
  onShortage: (cause: unknown) => void;
  /** Returns prefetched runs that the child has not started. */
  onReturned: (runs: Prefetched[]) => void;
  /** `child` is undefined if the run never had one. */
  onFinished: (outcome: RunOutcome, child: Child | undefined, reusable: boolean) => void;
}

/** Creates the receiver of a job's output. @param onStream called with each chunk of the result stream */
export function createSink(
  { request, options }: JobRunOptions,
  onStream: (text: string) => void,
): OutputSink {
  return {
    onLog: request.onLog,
    onStream,
    max_bytes: options.max_log_bytes,
    keep_last_line: request.version.language === "bash",
  };
}
