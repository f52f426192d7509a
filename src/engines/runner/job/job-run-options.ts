import type { RuntimeFiles } from "../files/runtime-files.ts";
import type { VersionFiles } from "../files/version-files.ts";
import type { Child } from "../process/child.ts";
import type { Python } from "../sandbox/walls/find-python.ts";
import type { RunnerOptions, RunOutcome, RunRequest } from "../types.ts";

/** What one run of a job is given by the runner. */
export interface JobRunOptions {
  request: RunRequest;
  options: RunnerOptions;
  key: string;
  runtime: RuntimeFiles;
  files: VersionFiles;
  /** Finds the Python for a script with this lock. */
  python: (lock: string | undefined) => Promise<Python | undefined>;
  /** @param read folders of its interpreter's library outside of what every child may read */
  takeBlank: (read: string[]) => Child;
  /** Reports that the machine lacks resources to start a process. */
  onShortage: (cause: unknown) => void;
  /** `child` is undefined if none was taken. */
  onFinished: (outcome: RunOutcome, child: Child | undefined, reusable: boolean) => void;
}
