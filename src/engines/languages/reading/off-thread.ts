/** Analyses long scripts on threads of their own, to keep the event loop free. */
import { Cache } from "../../../lib/async/cache.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { copyJson } from "../../../lib/json/json.ts";
import { createAnalysisSlots } from "../analysis-slots.ts";
import { type ScriptAnalysis, SyntaxFault } from "../types.ts";
import type { AnalysisRequest } from "./analyse-in-thread.ts";

export type AnalysisReply =
  | { ok: true; analysis: ScriptAnalysis }
  | { ok: false; kind: "syntax"; line: number; column: number; detail: string }
  | { ok: false; kind: "request" | "internal"; message: string };

/** Timeout of an analysis, from the start of its thread. */
const TIMEOUT_MS = 30_000;

/** Located like the expression threads' program (`expressions/sandbox/thread-pool.ts`). */
const THREAD_PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/engines/languages/reading/analysis-thread.ts"
  : new URL("analysis-thread.ts", import.meta.url).href;

/** One at a time: each takes some 100 MB, and a slow one lets another run beside it. */
const threads = createAnalysisSlots(1);

/** Analyses by workspace and hash of the script, which is analysed before a job is created and again in the job. */
const analyses = new Cache<ScriptAnalysis>({ max: 1_000 });

/**
 * Analyses a script on a thread.
 * @throws SyntaxFault with line and column; BadRequest, also after the timeout; TooManyRequests
 */
export async function analyseOffThread(request: AnalysisRequest): Promise<ScriptAnalysis> {
  const { owner, language, entrypoint, content } = request;
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("base64");
  const key = JSON.stringify([owner.owner, language, entrypoint, hash]);
  const run = () => threads.run(owner, () => runThread(request, THREAD_PROGRAM, TIMEOUT_MS)).then(toAnalysis);
  return copyJson(analyses.get(key) ?? (await analyses.load(key, run)));
}

/** Runs a request in a new thread and ends the thread, also if it has not replied within the timeout. */
export async function runThread(
  request: AnalysisRequest,
  program: string,
  timeout_ms: number,
): Promise<AnalysisReply> {
  const worker = new Worker(program);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<AnalysisReply>((resolve) => {
      const failed = (kind: "request" | "internal", message: string) => resolve({ ok: false, kind, message });
      worker.onmessage = ({ data }: MessageEvent<AnalysisReply>) => resolve(data);
      worker.onerror = ({ message }) => failed("internal", message);
      timer = setTimeout(
        () => failed("request", `the script takes longer to read than the ${timeout_ms / 1000} s it may`),
        timeout_ms,
      );
      worker.postMessage(request);
    });
  } finally {
    clearTimeout(timer);
    worker.terminate();
  }
}

function toAnalysis(answer: AnalysisReply): ScriptAnalysis {
  if (answer.ok) return answer.analysis;
  if (answer.kind === "syntax") throw new SyntaxFault(answer.line, answer.column, answer.detail);
  throw answer.kind === "request" ? new BadRequest(answer.message) : new Error(answer.message);
}
