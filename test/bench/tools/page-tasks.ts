/** Long tasks of a page's main thread: more than 16.7 ms costs a frame. */
import type { Page } from "playwright-core";

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Processor time of the thread, in microseconds. */
  tdur?: number;
  args?: { name?: string };
}

/** @returns the longest main-thread task of the pages during an action, in milliseconds of processor time */
export async function findLongestTask(page: Page, action: () => Promise<unknown>): Promise<number> {
  const session = await page.context().browser()!.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    events.push(...(value as unknown as TraceEvent[]));
  });
  const complete = new Promise((resolve) => session.on("Tracing.tracingComplete", resolve));
  const includedCategories = ["disabled-by-default-devtools.timeline", "__metadata"];
  await session.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories, excludedCategories: ["*"] },
  });
  await action();
  await session.send("Tracing.end");
  await complete;
  await session.detach();
  const isMain = ({ name, args }: TraceEvent) => name === "thread_name" && args?.name === "CrRendererMain";
  const threads = new Set(events.filter(isMain).map(({ pid, tid }) => `${pid} ${tid}`));
  const tasks = events.filter(({ name, pid, tid }) => name === "RunTask" && threads.has(`${pid} ${tid}`));
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1_000));
}
