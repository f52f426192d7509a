/**
 * Runs that wait until their version is compiled or its packages are installed. They occupy no slot: builds have slots
 * of their own (`../packages/tool-slots.ts`).
 */
import { raceAbort } from "../../../lib/async/sleep.ts";
import type { VersionFiles } from "../files/version-files.ts";
import type { RunnerOptions, RunOutcome } from "../types.ts";
import { createStartFailure, createTimeoutOutcome } from "./outcomes.ts";
import type { QueuedRun } from "./queued-run.ts";

export interface Builds {
  /**
   * Waits for the build of a run's version, as long as the run's timeout at most; a cancellation ends the wait.
   * @returns undefined if the run can start, else its outcome
   */
  waitFor(run: QueuedRun): Promise<RunOutcome | undefined>;
  /** Ends waits that exceeded their timeout. */
  checkTimes(now: number): void;
  /** Ends all waits as released. */
  stop(): void;
}

interface BuildsOptions {
  files: VersionFiles;
  log: RunnerOptions["log"];
  /** Reports that the machine lacks resources to start a process. */
  onShortage: (cause: unknown) => void;
}

interface Wait {
  deadline: number;
  timeout_ms: number;
  end: (outcome: RunOutcome) => void;
}

export function createBuilds({ files, log, onShortage }: BuildsOptions): Builds {
  const waits = new Set<Wait>();
  return {
    async waitFor(run) {
      const { version, timeout_ms, onBuild } = run.request;
      const stopping = new AbortController();
      let outcome: RunOutcome | undefined;
      const end = (as: RunOutcome) => {
        outcome ??= as;
        stopping.abort();
      };
      const wait: Wait = { deadline: performance.now() + timeout_ms, timeout_ms, end };
      run.holder = { cancelRun: () => end({ kind: "canceled" }) };
      waits.add(wait);
      const onBuilt = onBuild?.();
      try {
        await raceAbort(files.ensure(version, stopping.signal), stopping.signal);
      } catch (cause) {
        outcome ??= createStartFailure(cause, "", log);
        if (outcome.kind === "postponed") onShortage(cause);
      } finally {
        waits.delete(wait);
        onBuilt?.();
      }
      return outcome;
    },
    checkTimes(now) {
      for (const { deadline, timeout_ms, end } of waits)
        if (now >= deadline) end(createTimeoutOutcome(timeout_ms));
    },
    stop() {
      for (const { end } of waits) end({ kind: "released" });
    },
  };
}
