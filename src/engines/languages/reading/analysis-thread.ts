/** Program of the worker thread that analyses a long script: it posts one reply. */
import { BadRequest } from "../../../lib/errors.ts";
import { SyntaxFault } from "../types.ts";
import { type AnalysisRequest, analyseInThread } from "./analyse-in-thread.ts";
import type { AnalysisReply } from "./off-thread.ts";

declare const self: Worker;

async function analyseRequest(request: AnalysisRequest): Promise<AnalysisReply> {
  try {
    return { ok: true, analysis: await analyseInThread(request) };
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
  void analyseRequest(data).then((message) => self.postMessage(message));
};
