/** Analyses long scripts on a worker thread, one at a time, to keep the event loop free. */
import { BadRequest } from "../../../lib/errors.ts";
import { type Language, type ScriptAnalysis, SyntaxFault } from "../types.ts";

export interface AnalysisRequest {
  language: Language;
  content: string;
  entrypoint: string;
}

export type AnalysisReply =
  | { ok: true; analysis: ScriptAnalysis }
  | { ok: false; kind: "syntax"; line: number; column: number; detail: string }
  | { ok: false; kind: "request" | "internal"; message: string };

/** Timeout of an analysis. */
const TIMEOUT_MS = 30_000;

/** Located like the expression threads' program (`expressions/sandbox/thread-pool.ts`). */
const WORKER_PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/engines/languages/reading/analysis-thread.ts"
  : new URL("analysis-thread.ts", import.meta.url).href;

let last: Promise<unknown> = Promise.resolve();

/**
 * Analyses a script on a worker thread.
 * @throws SyntaxFault with line and column; BadRequest, also after the timeout
 */
export function analyseOffThread(request: AnalysisRequest): Promise<ScriptAnalysis> {
  const mine = last.then(() => runWorker(request)).then(toAnalysis);
  last = mine.catch(() => {});
  return mine;
}

async function runWorker(request: AnalysisRequest): Promise<AnalysisReply> {
  const worker = new Worker(WORKER_PROGRAM);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<AnalysisReply>((resolve) => {
      const failed = (kind: "request" | "internal", message: string) => resolve({ ok: false, kind, message });
      worker.onmessage = ({ data }: MessageEvent<AnalysisReply>) => resolve(data);
      worker.onerror = ({ message }) => failed("internal", message);
      timer = setTimeout(
        () => failed("request", `the script takes longer to read than the ${TIMEOUT_MS / 1000} s it may`),
        TIMEOUT_MS,
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
