/**
 * Ends the children of a server that is gone, however it went. The server tells it their process ids on a pipe; when
 * the pipe closes, every process below each of them is stopped, found and killed. Children collect their own orphans
 * (subreapers), so a process that got away from its parent and session is still found below its child.
 */
import { killTrees } from "./kill-tree.ts";

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

const children = new Set<number>();
let rest = "";
const decoder = new TextDecoder();
for await (const piece of Bun.stdin.stream()) {
  const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
  rest = lines.pop()!;
  for (const line of lines) {
    const pid = Number(line.slice(1));
    if (line.startsWith("+")) children.add(pid);
    else children.delete(pid);
  }
}
killTrees([...children]);
