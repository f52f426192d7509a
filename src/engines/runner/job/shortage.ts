/**
 * Pauses job execution while the machine lacks resources to start processes (disk space, descriptors, memory,
 * processes). Affected jobs return to the queue, and none is claimed until a process can be started again.
 */
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import type { RunnerOptions } from "../types.ts";

/** System error codes (errno(3)) for exhausted or inaccessible resources. */
const SHORTAGE_CODES = new Set([
  "ENOSPC",
  "EDQUOT",
  "EROFS",
  "EMFILE",
  "ENFILE",
  "ENOMEM",
  "EAGAIN",
  // Another thread forked while a launch program was being written.
  "ETXTBSY",
  "EIO",
  "EACCES",
  "EPERM",
]);
/** The same errors in the package installer's output. */
const SHORTAGE_PATTERN =
  /\b(ENOSPC|EDQUOT|EROFS|EMFILE|ENFILE|ENOMEM|NoSpaceLeft|DiskQuota|ReadOnlyFileSystem|No space left)\b/i;
const BACKOFF: Backoff = { first_ms: 200, max_ms: 10_000 };
/** After this long without a failure, the delays start over. */
const RESET_AFTER_MS = 60_000;

/** Whether a process could not be prepared or started for lack of the machine's resources. */
export function isShortage(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return SHORTAGE_CODES.has((cause as { code?: string }).code ?? "") || SHORTAGE_PATTERN.test(cause.message);
}

export interface ShortageGate {
  /** Missing resource; undefined while processes can be started. */
  reason(): string | undefined;
  /** Reports that a process could not be prepared or started. */
  report(cause: unknown): void;
  stop(): void;
}

/**
 * Creates the gate that is closed while processes cannot be started.
 * @param attempt prepares and starts a process up to the job-specific part
 * @throws as that does
 */
export function createShortageGate(attempt: () => void, log: RunnerOptions["log"]): ShortageGate {
  let why: string | undefined;
  let tries = 0;
  let last = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function tryLater(cause: unknown): void {
    why = cause instanceof Error ? cause.message : String(cause);
    last = performance.now();
    const again_in_ms = Math.round(computeBackoffMs(BACKOFF, ++tries));
    log("error", "no process can be started for jobs: jobs stay queued", { error: why, again_in_ms });
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
    reason: () => why,
    report(cause) {
      if (why !== undefined) return;
      if (performance.now() - last > RESET_AFTER_MS) tries = 0;
      tryLater(cause);
    },
    stop: () => clearTimeout(timer),
  };
}
