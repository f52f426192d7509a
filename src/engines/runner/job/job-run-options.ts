import type { RuntimeFiles } from "../files/runtime-files.ts";
import type { VersionFiles } from "../files/version-files.ts";
import type { Child } from "../process/child.ts";
import type { Python } from "../sandbox/walls/python.ts";
import type { RunnerOptions, RunOutcome, RunRequest } from "../types.ts";

/** What one run of a job is given by the runner. */
export interface JobRunOptions {
  request: RunRequest;
  options: RunnerOptions;
  key: string;
  runtime: RuntimeFiles;
  files: VersionFiles;
  /** The Python that a script with this lock runs in, if there is one. */
  python: (lock: string | undefined) => Promise<Python | undefined>;
  /** @param read where its interpreter keeps its library, outside of what every child reads */
  takeBlank: (read: string[]) => Child;
  /** The machine lacks what starting a process takes. */
  short: (cause: unknown) => void;
  /** `child` is undefined when none was taken. */
  finished: (outcome: RunOutcome, child: Child | undefined, reusable: boolean) => void;
}
