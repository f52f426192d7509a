/**
 * Kills the children of a server that is gone. The server sends their process ids on a pipe; when the pipe closes, all
 * their descendants are stopped, found and killed. Children are subreapers, so escaped processes are still found below
 * them.
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
