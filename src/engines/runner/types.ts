/** Interface of the runner. Types only; the queue, the worker and the features use them. */

import type { StopRequest } from "../../lib/async/sleep.ts";
import type { RestoredFile } from "../../lib/files/private-files.ts";
import type { RunnableLanguage } from "../languages/languages.ts";
import type { Packages, ParameterBinding } from "../languages/types.ts";

/** A script imported by another, as of the time of the other's lock. */
export interface ImportedScript {
  path: string;
  language: RunnableLanguage;
  content: string;
}

/** One version of a script as a child loads it. Immutable: an `id` always means the same content. */
export interface RunnableVersion {
  /** Unique within the workspace: the version's hash, or a digest of a preview. */
  id: string;
  workspace_id: string;
  /** Origin of the code for error messages and stack traces, e.g. `u/ann/hello`. */
  path: string | undefined;
  language: RunnableLanguage;
  content: string;
  /** Scripts of its workspace that it imports, directly or indirectly. */
  imports?: ImportedScript[] | undefined;
  /** Lock text; "" or undefined: no dependencies. */
  lock: string | undefined;
  parameters: ParameterBinding[];
  /** Bindings of `preprocessor`; undefined if there is none. */
  preprocessor_parameters: ParameterBinding[] | undefined;
  /** `KEY=value` pairs set by the script's author. */
  envs: string[];
  /** `fresh` requires a new child for each run. */
  isolation: "shared" | "fresh";
  /** Memory limit of a run in MB (of 2^20 bytes); undefined: the server's default. */
  memory_mb?: number | undefined;
}

/** Arguments with all references resolved. */
export interface ResolvedArguments {
  /** JSON text of the arguments object. */
  args: string;
  /** Secrets among the values. */
  secrets: string[];
  /** Placeholder in `args` for the job's token, if it was requested. */
  token_placeholder: string | undefined;
}

export interface RunRequest {
  job_id: string;
  version: RunnableVersion;
  /** Name of the function to call; `main` unless overridden. */
  entrypoint: string;
  /** u/… or g/…: part of a warm child's key, with workspace, version and caller. */
  permissioned_as: string;
  /** E-mail of the identity. */
  email: string;
  /** E-mail of the caller if the job runs as someone else; callers do not share children. */
  started_by?: string | undefined;
  /** Whether it was started on behalf of another job, which may wait for it. */
  has_parent?: boolean | undefined;
  /** Arguments object as JSON text; the server does not parse it. */
  args: string;
  /** Secrets among the arguments, masked in log and stream from the start. */
  secrets?: string[] | undefined;
  /** Placeholder in the arguments for the job's token. */
  token_placeholder?: string | undefined;
  /** Resolves references in a preprocessor's result. @throws an error that fails the job */
  resolveReferences?: ((args: string) => Promise<ResolvedArguments>) | undefined;
  /** JSON text of the preprocessor's arguments, if one runs first; its result replaces `args`. */
  preprocessor_input?: string | undefined;
  /** Contextual variables of the job (WM_JOB_ID, WM_WORKSPACE, …) without WM_TOKEN. */
  environment: Record<string, string>;
  /** Part of a warm child's key: variables it keeps must not reach jobs of another variant. */
  variant?: string | undefined;
  /** Jobs with the same name share the folder `./shared`, until `removeShared`. */
  shared?: string | undefined;
  /** Limits the run, and before it the wait for a build. */
  timeout_ms: number;
  /** Called when the run begins to wait for a build, without a slot. @returns a function called when the wait ends */
  onBuild?: (() => () => void) | undefined;
  /** Called in order with decoded text as it arrives, after the size limit. */
  onLog: (text: string) => void;
  /** Called with each chunk of the result stream. */
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

/** Outcome of a run; a value rather than an exception. */
export type RunOutcome =
  /** `result` and `preprocessed_args` are JSON text; the latter only if a preprocessor ran. */
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
  /** `run` was requested to stop; the process tree is gone. */
  | { kind: "canceled" }
  /** The server stopped before the job began; it may be requeued. */
  | { kind: "released" }
  /** The machine lacked resources to start a process before any of the job's code ran; it may be requeued. */
  | { kind: "postponed" };

/** Issues job tokens for one child. They share a prefix, by which the child recognises its own earlier tokens. */
export interface ChildTokens {
  /** Issues the token of a job; it is valid until the job ends. */
  begin(job_id: string): string;
  /** Whether a job with a token has called a server with it. */
  areUsed(): boolean;
  /** Ends a job's token. */
  end(token: string): void;
  /** Ends all tokens when the child ends. */
  endAll(): void;
}

/** Package indexes for Python, from the instance's settings. */
export interface PythonIndex {
  url: string | undefined;
  extra_urls: string[];
  trusted_hosts: string[];
  /** Server folder with wheels. */
  wheels: string | undefined;
}

/** Resource limits of one job; 0: no limit. */
export interface JobLimits {
  /** Resident memory of its processes in MB (of 2^20 bytes). */
  memory_mb: number;
  /** Concurrent processes. */
  processes: number;
  /** Processor time of its processes in seconds. */
  cpu_s: number;
  /** Disk usage of its folder, and size of each file it writes, in MB (of 2^20 bytes). */
  disk_mb: number;
}

/** Sandbox settings. */
export interface SandboxSettings {
  mode: "auto" | "required" | "off" | "bwrap";
  /** Folders that scripts may read and write beside the system's. */
  read: string[];
  write: string[];
  /** Only TCP ports that scripts may connect to; undefined: any. */
  ports: number[] | undefined;
  /** User ids of scripts if the server runs as root; `off`: root itself; undefined: an unused range. */
  user_ids?: { first: number; last: number } | "off" | undefined;
}

export interface RunnerOptions {
  /** Folder of everything the runner writes: versions, dependencies, job folders, cache. */
  directory: string;
  /** Maximum number of jobs that run at once. */
  concurrency: number;
  /**
   * Number of compilers that may run at once; of package clients, twice as many may. One that takes long is no longer
   * counted, but never more than three times the limit run.
   */
  builds: number;
  /** Maximum number of children, running, idle or blank. */
  max_children: number;
  /** Number of blank children started ahead. */
  blank_children: number;
  /** Idle warm children end after this time. */
  idle_timeout_ms: number;
  max_log_bytes: number;
  max_result_bytes: number;
  /** A job that streams more fails. */
  max_stream_bytes: number;
  /** Returns the npm registry, read at each use; undefined: from the environment. */
  registry: () => string | undefined;
  /** Returns the Python package sources, read at each use. */
  pythonIndex: () => PythonIndex;
  limits: JobLimits;
  sandbox: SandboxSettings;
  /** Whether scripts see credentials in the server's proxy URLs. */
  proxy_credentials: boolean;
  /** Called after modes of the server's own files were restored. */
  onRestored: (files: RestoredFile[]) => void;
  tokensFor: (child: { workspace_id: string; permissioned_as: string; email: string }) => ChildTokens;
  /** Writes one line to the operator's log. */
  log: (
    level: "debug" | "info" | "warn" | "error",
    message: string,
    fields?: Record<string, unknown>,
  ) => void;
}

/** How packages are resolved. */
export interface LockOptions {
  /** Workspace for which they are resolved. */
  owner: string;
  onLog: (text: string) => void;
  signal?: AbortSignal | undefined;
}

export interface Runner {
  start(): Promise<void>;
  /** Runs one job to its end, at most `concurrency` at a time; further jobs wait in order of arrival. */
  run(request: RunRequest, stop: StopRequest): Promise<RunOutcome>;
  /** Resolves packages to exact versions. @returns a lock's text @throws DependencyError naming the package */
  lockPackages(packages: Packages, options: LockOptions): Promise<string>;
  /** Writes and installs a version's files ahead of its first run. Safe to call repeatedly and concurrently. */
  prepare(version: RunnableVersion): Promise<void>;
  /** Removes a shared folder, if it exists. */
  removeShared(name: string): void;
  /** Returns the number of free slots. */
  freeSlots(): number;
  /**
   * Ends the idle children of a version (archived, deleted), a workspace or a user; busy ones end after their current
   * job.
   */
  retire(match: { workspace_id?: string; version_id?: string; email?: string }): void;
  /** Removes the files of a deleted or renamed workspace's versions and ends its idle children. */
  removeWorkspaceFiles(workspace_id: string): Promise<void>;
  /**
   * Removes files of versions unused since `before`; they are recreated on demand.
   * @returns the number of removed folders
   */
  prune(before: Date): Promise<number>;
  /**
   * Masks a secret in the log and stream of a running job, and of later jobs in its process. Call it before the job
   * learns the secret.
   * @returns false if the job does not run here (any more): it must not learn the secret
   */
  maskSecret(job_id: string, secret: string): boolean;
  /** Returns a one-line summary of the sandbox. */
  sandboxSummary(): string;
  /** Returns the average run time of jobs in milliseconds (smoothed), waiting excluded. */
  averageMs(): number;
  /** Returns for how many milliseconds all slots have been busy with the same jobs; 0 if any is free. */
  stalledMs(): number;
  /** Returns why no process can be started at the moment, if so; no job should be dispatched then. */
  shortageReason(): string | undefined;
  /** Lists jobs that a process has been busy with for at least `ms` milliseconds. */
  jobsBusyFor(ms: number): string[];
  /** Lists jobs that wait for a slot and could run on another server, because they use no shared folder. */
  waitingJobs(): string[];
  /** Exempts all other processes that this process has started so far from the sweep, permanently. */
  exemptOtherProcesses(): void;
  stats(): { running: number; idle: number; blank: number; started_total: number };
  /** Kills all children and their descendants; running jobs end as `released`. */
  stop(): Promise<void>;
}
