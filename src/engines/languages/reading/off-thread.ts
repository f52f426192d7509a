/** Long scripts are read by a thread of their own, one at a time: reading one costs more than others should wait. */
import { BadRequest } from "../../../lib/errors.ts";
import { type Language, type ScriptAnalysis, SyntaxFault } from "../types.ts";

export interface AnalysisRequest {
  language: Language;
  content: string;
  entrypoint: string;
}

export type AnalysisAnswer =
  | { ok: true; analysis: ScriptAnalysis }
  | { ok: false; kind: "syntax"; line: number; column: number; detail: string }
  | { ok: false; kind: "request" | "internal"; message: string };

/** How long a script may take to be read. */
const TIMEOUT_MS = 30_000;

/** Named as the threads of expressions are (`expressions/threads.ts`). */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/engines/languages/reading/analysis-thread.ts"
  : new URL("analysis-thread.ts", import.meta.url).href;

let last: Promise<unknown> = Promise.resolve();

/** @throws SyntaxFault with line and column; BadRequest, also for a script that takes too long to read */
export function analyseOffThread(request: AnalysisRequest): Promise<ScriptAnalysis> {
  const mine = last.then(() => ask(request)).then(analysisOf);
  last = mine.catch(() => {});
  return mine;
}

async function ask(request: AnalysisRequest): Promise<AnalysisAnswer> {
  const worker = new Worker(PROGRAM);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<AnalysisAnswer>((resolve) => {
      const failed = (kind: "request" | "internal", message: string) => resolve({ ok: false, kind, message });
      worker.onmessage = ({ data }: MessageEvent<AnalysisAnswer>) => resolve(data);
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

function analysisOf(answer: AnalysisAnswer): ScriptAnalysis {
  if (answer.ok) return answer.analysis;
  if (answer.kind === "syntax") throw new SyntaxFault(answer.line, answer.column, answer.detail);
  throw answer.kind === "request" ? new BadRequest(answer.message) : new Error(answer.message);
}
