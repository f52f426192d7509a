/** Reads a script without running it: what main takes, and which packages it needs. */
import { BadRequest, PayloadTooLarge } from "../../../lib/errors.ts";
import { type Language, runtimeOf } from "../languages.ts";
import type { ScriptAnalysis } from "../types.ts";
import { analyseHere } from "./analyse-here.ts";
import { analyseOffThread } from "./off-thread.ts";

/** Characters of a script that is read on the thread that serves requests: at most some 30 ms of it. */
const MAX_HERE = 30_000;
/** Most characters of a script. */
const MAX_SCRIPT = 10_000_000;

/**
 * @param entrypoint the function whose parameters are the script's; bash has none
 * @throws SyntaxFault with line and column; BadRequest when an interpreter is needed and missing, or an import cannot
 * be served; PayloadTooLarge
 */
export async function analyseScript(
  language: Language,
  content: string,
  entrypoint = "main",
): Promise<ScriptAnalysis> {
  if (content.length > MAX_SCRIPT) {
    throw new PayloadTooLarge(`the script is longer than ${MAX_SCRIPT / 1_000_000} million characters`);
  }
  // Python is read by an interpreter, in a process of its own.
  const isHere = content.length <= MAX_HERE || runtimeOf(language) === "python3";
  return isHere
    ? analyseHere(language, content, entrypoint)
    : analyseOffThread({ language, content, entrypoint });
}

/**
 * A lock that a client sent, if packages may be installed from it. One that is of another form, or asks for packages
 * from elsewhere than the registry, is left out: the script's packages are then resolved anew.
 */
export async function usableLock(
  language: Language,
  lock: string | null | undefined,
): Promise<string | undefined> {
  if (!lock?.trim()) return undefined;
  const runtime = runtimeOf(language);
  if (runtime === "python3") return lock.trimStart().startsWith("{") ? undefined : lock;
  if (runtime !== "bun" && runtime !== "nativets") return lock;
  try {
    (await import("../typescript/lock-text.ts")).parseLock(lock);
    return lock;
  } catch (error) {
    if (error instanceof BadRequest) return undefined;
    throw error;
  }
}
