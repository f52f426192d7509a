import type { RuntimeFiles } from "../files/runtime-files.ts";
import type { VersionFiles } from "../files/version-files.ts";
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
  /** Further runs that its child has been sent; undefined: none. */
  prefetch: Prefetch | undefined;
  runtime: RuntimeFiles;
  files: VersionFiles;
  /** Finds the program that runs a script; undefined if none of the machine does. @throws DependencyError */
  interpreter: (version: RunnableVersion) => Promise<Tool | undefined>;
  /** @param tool program that runs the script, whose folders the child reads */
  takeBlank: (tool: Tool | undefined) => Child;
  /** Reports that the machine lacks resources to start a process. */
  onShortage: (cause: unknown) => void;
  /** Returns prefetched runs that the child has not begun. */
  onReturned: (runs: Prefetched[]) => void;
  /** `child` is undefined if none was taken. */
  onFinished: (outcome: RunOutcome, child: Child | undefined, reusable: boolean) => void;
}
