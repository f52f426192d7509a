/** Worker names: machine, process id, and a random part that keeps them unique. */
import { hostname } from "node:os";
import { createRandomText } from "../../lib/text/ids.ts";

export function createWorkerName(): string {
  return `${hostname()}-${process.pid}-${createRandomText(5)}`;
}

/** Returns the machine part of a worker's name. */
export function parseMachineName(worker: string): string {
  return worker.replace(/-\d+-[^-]*$/, "");
}
