/** What a worker is called: the machine it is on, its process there, and what tells it from others of that number. */
import { hostname } from "node:os";
import { randomText } from "../../lib/text/ids.ts";

export function newWorkerName(): string {
  return `${hostname()}-${process.pid}-${randomText(5)}`;
}

/** The machine that a worker is on. */
export function hostOf(worker: string): string {
  return worker.replace(/-\d+-[^-]*$/, "");
}
