/**
 * What a process for a job takes of the machine (room on the disk, descriptors, memory, processes) and is not there for
 * now. No job is to blame for that: it goes back to the queue, and none is taken until a process can be started again.
 */
import type { RunnerOptions } from "../types.ts";

/** What the system says (errno(3)) where something of its own has run out, or is closed to us. */
const CODES = new Set([
  "ENOSPC",
  "EDQUOT",
  "EROFS",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "EAGAIN",
  "EIO",
  "EACCES",
  "EPERM",
]);
/** The same, in the words of the installer of dependencies. */
const WORDS =
  /\b(ENOSPC|EDQUOT|EROFS|EMFILE|ENFILE|ENOMEM|NoSpaceLeft|DiskQuota|ReadOnlyFileSystem|No space left)\b/i;
/** Pauses before it is tried again; the last one again and again. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 5_000, 10_000];
/** After so long without another failure the pauses begin with the shortest again. */
const CALM_MS = 60_000;

/** Whether the machine is to blame for what kept a process from being prepared or started. */
export function isShortage(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return CODES.has((cause as { code?: string }).code ?? "") || WORDS.test(cause.message);
}

export interface Shortage {
  /** What is missing; undefined while a process can be started. */
  why(): string | undefined;
  /** A process could not be prepared or started. */
  begin(cause: unknown): void;
  stop(): void;
}

/** @param attempt prepares and starts what a job needs, as far as all jobs need it. @throws as that does */
export function createShortage(attempt: () => void, log: RunnerOptions["log"]): Shortage {
  let why: string | undefined;
  let tries = 0;
  let last = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function tryLater(cause: unknown): void {
    why = cause instanceof Error ? cause.message : String(cause);
    last = performance.now();
    const again_in_ms = PAUSES_MS[Math.min(tries++, PAUSES_MS.length - 1)]!;
    log("error", "no process can be started for a job: jobs wait", { error: why, again_in_ms });
    timer = setTimeout(tryNow, again_in_ms);
    timer.unref();
  }

  function tryNow(): void {
    try {
      attempt();
    } catch (cause) {
      tryLater(cause);
      return;
    }
    why = undefined;
    log("info", "processes can be started for jobs again");
  }

  return {
    why: () => why,
    begin(cause) {
      if (why !== undefined) return;
      if (performance.now() - last > CALM_MS) tries = 0;
      tryLater(cause);
    },
    stop: () => clearTimeout(timer),
  };
}
