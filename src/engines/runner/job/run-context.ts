import type { RuntimeFiles } from "../files/runtime-files.ts";
import type { VersionFiles } from "../files/version-files.ts";
import type { Child } from "../process/child.ts";
import type { Tool } from "../programs/tools.ts";
import type { RunnableVersion, RunnerOptions, RunOutcome } from "../types.ts";
import type { Prefetched } from "./queued-run.ts";

/** What the runs of a runner share. `R` is the class of the runs. */
export interface RunContext<R> {
  readonly options: RunnerOptions;
  /** Known once the runner has started. */
  readonly runtime: RuntimeFiles;
  readonly files: VersionFiles;
  /**
   * Finds the program that runs a script; undefined if it needs no program of the machine.
   * @throws DependencyError
   */
  interpreter(version: RunnableVersion): Promise<Tool | undefined>;
  /**
   * Takes a blank child, one started in advance if possible.
   * @param shared the folder that it shares with others
   * @param tool program that runs the script; the child may read its folders
   */
  takeBlank(shared: string | undefined, tool: Tool | undefined): Child;
  /** Reports that the machine lacks resources to start a process. */
  onShortage(cause: unknown): void;
  /** Returns prefetched runs that the child has not started. */
  onReturned(runs: Prefetched[]): void;
  /** @param child undefined if the run never had one */
  onFinished(run: R, outcome: RunOutcome, child: Child | undefined, reusable: boolean): void;
}
