/** What the runner is asked to do and what it answers. Types only: the queue, the worker and the features meet it here. */

import type { RestoredFile } from "../../lib/files/private-files.ts";
import type { RunnableLanguage } from "../languages/languages.ts";
import type { Packages, ParameterBinding } from "../languages/types.ts";

/** A script that another one imports, as it was when the other was locked. */
export interface ImportedScript {
  path: string;
  language: RunnableLanguage;
  content: string;
}

/** One version of a script as a child loads it. Immutable: the same `id` always means the same content. */
export interface RunnableVersion {
  /** Unique within the workspace: the version's hash, or a digest for a preview. */
  id: string;
  workspace_id: string;
  /** Where the code comes from, for error messages and stack traces, e.g. `u/ann/hello`. */
  path: string | undefined;
  language: RunnableLanguage;
  content: string;
  /** The scripts of its workspace that it imports, itself or through others; undefined: none. */
  imports?: ImportedScript[] | undefined;
  /** The lock text; "" or undefined means no dependencies. */
  lock: string | undefined;
  parameters: ParameterBinding[];
  /** How `preprocessor` takes its values; undefined when there is none. */
  preprocessor_parameters: ParameterBinding[] | undefined;
  /** `KEY=value` pairs the script's author set. */
  envs: string[];
  /** `fresh` asks for a new child each run. */
  isolation: "shared" | "fresh";
  /** Most memory a run may take, in MB (of 2^20 bytes); undefined: what the server says. */
  memory_mb?: number | undefined;
}

/** Arguments in which no reference is left. */
export interface PlainArguments {
  /** JSON text of the arguments object. */
  args: string;
  /** What of them is secret. */
  secrets: string[];
  /** Stands in `args` for the token that the job runs with, if it was asked for. */
  token_placeholder: string | undefined;
}

export interface RunRequest {
  job_id: string;
  version: RunnableVersion;
  /** The name of the function to call; `main` unless the caller overrides it. */
  entrypoint: string;
  /** u/… or g/…: with workspace, version and who called it is the key of a warm child. */
  permissioned_as: string;
  /** E-mail of that identity. */
  email: string;
  /** E-mail of who called, where the job runs as somebody else: callers share no child. */
  started_by?: string | undefined;
  /** The arguments object as JSON text; it is not parsed in the server. */
  args: string;
  /** What of the arguments is secret: masked in the log and the stream from the start. */
  secrets?: string[] | undefined;
  /** Text in the arguments that the token the job runs with takes the place of. */
  token_placeholder?: string | undefined;
  /** Follows the references in arguments that a preprocessor has made. @throws what fails the job */
  followReferences?: ((args: string) => Promise<PlainArguments>) | undefined;
  /** Set when the preprocessor is to run first, whose result replaces `args`; JSON text of its arguments object. */
  preprocessor_input?: string | undefined;
  /** Contextual variables of this job (WM_JOB_ID, WM_WORKSPACE, …) without WM_TOKEN. */
  environment: Record<string, string>;
  /** A warm child serves jobs of one variant only: variables that it keeps may not be those of another. */
  variant?: string | undefined;
  /** Jobs with the same name find the same folder at `./shared`, until it is let go. */
  shared?: string | undefined;
  timeout_ms: number;
  /** Called in order with decoded text as it arrives; the cap has been applied. */
  onLog: (text: string) => void;
  /** A piece of the result stream, as it is made. */
  onStream: (text: string) => void;
}

export interface JobError {
  name: string;
  message: string;
  stack?: string;
  extra?: unknown;
  [key: string]: unknown;
}

/** How a child's process ended: its exit code, or the signal that killed it. */
export interface ChildExit {
  code: number | null;
  signal: string | null;
}

/** How a run ended. A value, not an exception: the worker switches on it. */
export type RunOutcome =
  /** `result` is JSON text; `preprocessed_args` is JSON text when a preprocessor ran. */
  | {
      kind: "success";
      result: string;
      preprocessed_args?: string | undefined;
      mem_peak_kb?: number | undefined;
    }
  | {
      kind: "failure";
      error: JobError;
      preprocessed_args?: string | undefined;
      mem_peak_kb?: number | undefined;
    }
  /** The signal handed to `run` was aborted; the process tree is gone. */
  | { kind: "canceled" }
  /** Not the job's fault (the server is stopping before the job began): it may be queued again. */
  | { kind: "released" }
  /** The machine lacked what starting a process takes, before any of the job's code ran: it may be queued again. */
  | { kind: "postponed" };

/**
 * Mints the bearer tokens of one child's jobs. All begin with the same characters, by which the child knows a token that
 * it was given before.
 */
export interface ChildTokens {
  /** @returns the token of the job that begins, which answers until that job has ended */
  begin(job_id: string): string;
  /** The job has ended, and its token with it. */
  end(): void;
}

/** Where Python packages come from, as the instance's settings have it. */
export interface PythonIndex {
  url: string | undefined;
  extra_urls: string[];
  trusted_hosts: string[];
  /** A folder of the server with wheels. */
  wheels: string | undefined;
}

/** The most one job may take; 0 stands for no limit. */
export interface JobLimits {
  /** Resident memory of its processes, in MB (of 2^20 bytes). */
  memory_mb: number;
  /** Processes at once. */
  processes: number;
  /** Processor time of its processes, in seconds. */
  cpu_s: number;
  /** What its folder takes on the disk, and each file that it writes, in MB (of 2^20 bytes). */
  disk_mb: number;
}

/** The walls around scripts. */
export interface SandboxChoice {
  mode: "auto" | "required" | "off" | "bwrap";
  /** Folders beside the system's that scripts may read, and that they may write. */
  read: string[];
  write: string[];
  /** The only TCP ports that scripts may connect to; undefined: any. */
  ports: number[] | undefined;
  /** Whom scripts run as where the server is the superuser: users of these ids, or itself; undefined: of a range that is free. */
  user_ids?: { first: number; last: number } | "off" | undefined;
}

export interface RunnerOptions {
  /** Folder below which the runner keeps everything it writes: versions, dependency installs, job folders, cache. */
  directory: string;
  /** The most children that run jobs at once. */
  concurrency: number;
  /** The most children kept, running or idle, blank ones included. */
  max_children: number;
  /** Blank children kept started ahead. */
  blank_children: number;
  /** Idle warm children go after this. */
  idle_timeout_ms: number;
  max_log_bytes: number;
  max_result_bytes: number;
  /** A job that streams more fails. */
  max_stream_bytes: number;
  /** Where npm packages are installed from, asked each time; undefined: where the environment says. */
  registry: () => string | undefined;
  /** Where Python packages are installed from, asked each time. */
  pythonIndex: () => PythonIndex;
  limits: JobLimits;
  sandbox: SandboxChoice;
  /** Whether scripts get the credentials in the URLs of the server's proxies. */
  proxy_credentials: boolean;
  /** Files of the server's own had other rights than they were given, and have these again. */
  onRestored: (files: RestoredFile[]) => void;
  tokensFor: (child: { workspace_id: string; permissioned_as: string; email: string }) => ChildTokens;
  /** One line for the operator's log. */
  log: (
    level: "debug" | "info" | "warn" | "error",
    message: string,
    fields?: Record<string, unknown>,
  ) => void;
}

export interface Runner {
  start(): Promise<void>;
  /** Runs one job to its end. At most `concurrency` at a time; more wait inside in order of arrival. */
  run(request: RunRequest, signal: AbortSignal): Promise<RunOutcome>;
  /** Finds the exact versions of packages. @returns a lock's text. @throws DependencyError naming the package */
  lockPackages(
    packages: Packages,
    options: { onLog: (text: string) => void; signal?: AbortSignal | undefined },
  ): Promise<string>;
  /** Writes and installs what a version needs ahead of its first run; safe to call often and at once. */
  prepare(version: RunnableVersion): Promise<void>;
  /** Removes the folder that jobs shared under a name, if there is one. */
  forgetShared(name: string): void;
  /** Slots that could take a job right now. */
  free(): number;
  /**
   * Ends every child of a version (archived, deleted), of a workspace or of a person; running jobs are left to finish,
   * and their children take no other.
   */
  retire(match: { workspace_id?: string; version_id?: string; email?: string }): void;
  /** Removes the files of a workspace's versions, and ends its idle children: it is gone, or has another id. */
  forget(workspace_id: string): Promise<void>;
  /** Removes the files of versions that nothing has used since; they are written anew when needed. @returns how many */
  prune(before: Date): Promise<number>;
  /**
   * Masks a secret in the log and the result stream of a running job, and of later ones in the same process. To be
   * called before the job is told the secret.
   * @returns false when the job does not run here (any more): it must not be told
   */
  mask(job_id: string, secret: string): boolean;
  /** In a line, what holds around the processes that run jobs. */
  holds(): string;
  /** How long a child is busy with a job, smoothed, in milliseconds; waiting does not count. */
  averageMs(): number;
  /** For how long every slot has been busy with the same job, in milliseconds; 0 while one is free. */
  stalledMs(): number;
  /** What keeps processes from being started, if anything does for now: no job should be handed over meanwhile. */
  shortage(): string | undefined;
  /** Ids of the jobs that a process has been busy with for so long. */
  busyFor(ms: number): string[];
  /** Ids of the jobs that wait inside for a slot, and could as well wait elsewhere: what they share with others is here. */
  waiting(): string[];
  /** Leaves alone, for good, what this process has started by now beside script processes. */
  spare(): void;
  stats(): { running: number; idle: number; blank: number; started_total: number };
  /** Ends all children and their trees at once; running jobs come back as `released`. */
  stop(): Promise<void>;
}
