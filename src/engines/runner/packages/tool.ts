/** What a package client is run with, and how that ended. The pool runs it, in a child of its own. */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import type { ChildExit, JobError } from "../types.ts";

export interface ToolRequest {
  /** For the operator's log, e.g. `pip install`. */
  name: string;
  program: string;
  /** Arguments without the program's own name. `{folder}` stands for the folder that the program runs in. */
  argv: string[];
  /** Beside what every child gets. */
  environment: Record<string, string>;
  /** Files to put into its folder first, by name. */
  files: Record<string, string>;
  /** Folders that it may read beside the system's. */
  read: string[];
  timeout_ms: number;
  onLog: (text: string) => void;
  signal?: AbortSignal | undefined;
  /** Reads or takes what it has made. Called when it has exited with 0, before its folder is removed. */
  collect?: (folder: string) => Promise<void>;
}

/** How a tool ended: its exit code, or why it was stopped. */
export type ToolOutcome = { exit: ChildExit; lastLines: string } | { stopped: JobError };

/** Moves what a tool has made to where it is kept; another process may have been first with the same. */
export async function keepFolder(made: string, kept: string): Promise<void> {
  await rename(made, kept).catch((cause) => {
    if (!existsSync(kept)) throw cause;
  });
}
