/** Cost of a console page: processor time of its main thread in milliseconds, and its memory. */
import type { Page } from "playwright-core";

export interface PageWork {
  /**
   * Prints the cost of an action in processor time, which does not depend on other load.
   * @param times how often the action repeats it
   */
  measure: (what: string, action: () => Promise<unknown>, times?: number) => Promise<void>;
  /** Memory of the page's objects, after garbage collection. */
  heapMb: () => Promise<number>;
  /** Nodes of the document, and detached ones that the page still references. */
  nodes: () => Promise<number>;
}

export async function watchPage(page: Page): Promise<PageWork> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const worked = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")!.value * 1_000;
  };
  return {
    measure: async (what, action, times = 1) => {
      const [from, begun] = [await worked(), performance.now()];
      await action();
      // A reloaded document starts counting at zero.
      const until = await worked();
      const [work, wall] = [until < from ? until : until - from, performance.now() - begun];
      console.log(
        `${what}: ${(work / times).toFixed(1)} ms of work, ${(wall / times).toFixed(1)} ms by the clock`,
      );
    },
    heapMb: async () => {
      await session.send("HeapProfiler.collectGarbage");
      const { usedSize } = await session.send("Runtime.getHeapUsage");
      return usedSize / 1e6;
    },
    nodes: async () => (await session.send("Memory.getDOMCounters")).nodes,
  };
}

/** Scrolls the graph down, one step per frame. */
export async function panPage(page: Page, frames: number): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const graph = document.querySelector(".graph");
    let left = ${frames};
    const step = () => {
      graph.scrollTop += 40;
      if (--left > 0) requestAnimationFrame(step);
      else done();
    };
    requestAnimationFrame(step);
  })`);
}

/**
 * In each document that the page loads from now on, records when many elements have been painted.
 * @returns a function that waits for that and returns the milliseconds since the document was requested, by the
 * page's clock
 */
export async function watchPaint(
  page: Page,
  selector: string,
  count: number,
): Promise<() => Promise<number>> {
  await page.addInitScript(`new MutationObserver((_, observer) => {
    if (document.querySelectorAll(${JSON.stringify(selector)}).length < ${count}) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => { window.paintedAt = performance.now(); }));
  }).observe(document, { childList: true, subtree: true })`);
  return async () => {
    await page.waitForFunction("window.paintedAt !== undefined");
    return (await page.evaluate("window.paintedAt")) as number;
  };
}
