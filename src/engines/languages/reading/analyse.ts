/** Analyses a script without running it: the parameters of main, and the required packages. */
import { BadRequest, PayloadTooLarge } from "../../../lib/errors.ts";
import type { AnalysisOwner } from "../analysis-slots.ts";
import { findRuntime, type Language, type RunnableLanguage } from "../languages.ts";
import type { ScriptAnalysis } from "../types.ts";
import { analyseInThread } from "./analyse-in-thread.ts";
import { analyseOffThread } from "./off-thread.ts";
import { requireParsableSize } from "./source-size.ts";

/** Longest script analysed on the event loop's thread; takes about 30 ms at most. */
const MAX_IN_THREAD_CHARACTERS = 30_000;
/** Languages whose analysis builds a syntax tree. */
const SYNTAX_TREES = new Set<RunnableLanguage>(["bun", "nativets", "python3"]);
/** Maximum length of a script. */
const MAX_SCRIPT_CHARACTERS = 10_000_000;

/** For whom a script is analysed, and what of it. */
export interface AnalysisOptions extends AnalysisOwner {
  /** Function whose parameters are the script's, `main` if left out; bash has none. */
  entrypoint?: string;
}

/**
 * Analyses a script.
 * @throws SyntaxFault with line and column; BadRequest if a required interpreter is missing or an import is
 * unsupported; PayloadTooLarge; TooManyRequests for a request, if too many of its owner wait
 */
export async function analyseScript(
  language: Language,
  content: string,
  { entrypoint = "main", ...owner }: AnalysisOptions,
): Promise<ScriptAnalysis> {
  if (content.length > MAX_SCRIPT_CHARACTERS) {
    throw new PayloadTooLarge(
      `the script is longer than ${MAX_SCRIPT_CHARACTERS / 1_000_000} million characters`,
    );
  }
  const runtime = findRuntime(language);
  if (runtime !== undefined && SYNTAX_TREES.has(runtime)) requireParsableSize(content);
  // Whether the script is analysed on this thread. Python is parsed by an interpreter in its own process.
  const isHere = content.length <= MAX_IN_THREAD_CHARACTERS || runtime === "python3";
  return isHere
    ? analyseInThread({ language, content, entrypoint, owner })
    : analyseOffThread({ language, content, entrypoint, owner });
}

/** Whether a client's lock states that there are no packages, in a form that cannot be installed from. */
export const isEmptyLock = (lock: unknown): boolean =>
  typeof lock === "string" &&
  /^\s*\{\s*"dependencies":\s*\{\}\s*\}\s*\/\/bun\.lockb?\s*<empty>\s*$/.test(lock);

/**
 * Returns a client's lock if packages may be installed from it. A lock in another form, or with packages from outside
 * the registry, is dropped, and the packages are resolved again.
 */
export async function findUsableLock(
  language: Language,
  lock: string | null | undefined,
): Promise<string | undefined> {
  if (!lock?.trim()) return undefined;
  const runtime = findRuntime(language);
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
