/** Input and outcome of a package client. The pool runs it in a child of its own. */
import { existsSync, realpathSync } from "node:fs";
import { lstat, rename } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { DependencyError } from "../../languages/typescript/lock.ts";
import type { ChildExit, JobError } from "../types.ts";
import type { ToolKind } from "./tool-slots.ts";

export interface ToolRequest {
  /** Name in the operator's log, e.g. `pip install`. */
  name: string;
  kind: ToolKind;
  /** Workspace that it runs for. */
  owner: string;
  program: string;
  /** Arguments without the program's own name. `{folder}` is replaced by its working folder. */
  argv: string[];
  /** Added to the environment of every child. */
  environment: Record<string, string>;
  /** Files to create in its folder first, by name. */
  files: Record<string, string>;
  /** Folders and files it may read beside the system's. */
  read: string[];
  timeout_ms: number;
  onLog: (text: string) => void;
  signal?: AbortSignal | undefined;
  /** Collects its results after exit code 0, before its folder is removed. */
  collect?: (folder: string) => Promise<void>;
}

/** Outcome of a tool: its exit, or the reason why it was stopped. */
export type ToolOutcome = { exit: ChildExit; lastLines: string } | { stopped: JobError };

/**
 * Lists the existing paths that a tool must be able to read: absolute ones and `file:` URLs among values, such as
 * certificate files and package folders of settings, folders of certificates, and where their links lead. A file stands
 * for itself: beside it may be what no script should see.
 */
export function findNamedPaths(values: string[], { SSL_CERT_DIR = "" }: Record<string, string>): string[] {
  const named = [...values, ...SSL_CERT_DIR.split(":")]
    .map((value) => parseFileUrl(value) ?? value)
    .filter((value) => value.startsWith("/") && existsSync(value));
  return [...new Set(named.flatMap((path) => [path, realpathSync(path)]))];
}

/** Returns the path that a `file:` URL names; undefined for other values, and for URLs that name another host. */
function parseFileUrl(value: string): string | undefined {
  if (!value.startsWith("file:")) return undefined;
  try {
    return fileURLToPath(value);
  } catch {
    return undefined;
  }
}

/**
 * Moves a tool's result to its final folder, unless another process has already created the same.
 * @throws DependencyError if a package's own code has put something else, such as a link, in the folder's place
 */
export async function publishFolder(made: string, kept: string): Promise<void> {
  if (!(await lstat(made)).isDirectory())
    throw new DependencyError("the installed packages are not in a folder");
  await rename(made, kept).catch((cause) => {
    if (!existsSync(kept)) throw cause;
  });
}
