/** The program of a thread that reads a long script: it ends with the answer. */
import { BadRequest } from "../../../lib/errors.ts";
import { SyntaxFault } from "../types.ts";
import { analyseHere } from "./analyse-here.ts";
import type { AnalysisAnswer, AnalysisRequest } from "./off-thread.ts";

declare const self: Worker;

async function answer({ language, content, entrypoint }: AnalysisRequest): Promise<AnalysisAnswer> {
  try {
    return { ok: true, analysis: await analyseHere(language, content, entrypoint) };
  } catch (cause) {
    if (cause instanceof SyntaxFault) {
      const { line, column, detail } = cause;
      return { ok: false, kind: "syntax", line, column, detail };
    }
    const kind = cause instanceof BadRequest ? "request" : "internal";
    return { ok: false, kind, message: (cause as Error).message };
  }
}

self.onmessage = ({ data }: MessageEvent<AnalysisRequest>) => {
  void answer(data).then((message) => self.postMessage(message));
};
