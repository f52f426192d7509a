/** Protocol between runner and child: JSON lines on the child's IPC socket. */
import type { ParameterBinding } from "../languages/types.ts";
import type { ChildExit, JobError } from "./types.ts";

/** Variables by which a child's runtime finds the socket, for `process.send` (Node's names). */
export const CHANNEL_ENVIRONMENT = { NODE_CHANNEL_FD: "3", NODE_CHANNEL_SERIALIZATION_MODE: "json" };

/** To a blank child: become this script version for life. */
export interface Load {
  t: "load";
  file: string;
  /** Text of a query; `file` is then the module that runs queries of its language. */
  source?: string | undefined;
  /** File name in stack traces. */
  display: string;
  /** Folder of the sources; stack frames are shown relative to it. */
  root: string;
  /** Module name in Python. */
  module: string;
  /** Folder of the child's program, whose frames are hidden in stack traces. */
  runtime: string;
  parameters: ParameterBinding[];
  preprocessor_parameters: ParameterBinding[] | undefined;
  environment: Record<string, string>;
  /** Random text in the mark that ends a job's output. */
  nonce: string;
  /** Whether it runs a single job only. */
  once: boolean;
  /** Whether its code, or a package, may send requests through `node:http`. */
  requests: boolean;
  /**
   * Whether its code seems to use modules of Node or the streams of `process`, which are then prepared before it is
   * loaded. Code that hides this prints asynchronously, and functions that it replaces affect the process.
   */
  modules: boolean;
  /** Program that runs each job, in place of a function of `file`. */
  program?: HostedProgram | undefined;
}

/** A program of the machine, started below a child once per job. */
export interface HostedProgram {
  path: string;
  argv: string[];
  /** Its whole environment, apart from the job's variables. */
  environment: Record<string, string>;
  /**
   * Path of the commands that bash runs first. Bash is started before its job and receives the arguments as `$1`, `$2`,
   * …; other programs receive them as JSON on their standard input.
   */
  prelude: string | undefined;
  /** Whether it replaces the child process, which then runs this job only. */
  replaces_child: boolean;
}

/** To a blank child: become another program, with exactly these arguments and this environment. */
export interface Exec {
  t: "exec";
  program: string;
  argv: string[];
  environment: Record<string, string>;
  /** Whether the socket stays open: Python uses this protocol, a tool must not see it. */
  keep_channel: boolean;
}

/** To a loaded child: run one job. */
export interface Run {
  t: "run";
  /** Contextual variables that differ from the previous job's. */
  environment: Record<string, string>;
  entrypoint: string;
  /** JSON text. */
  args: string;
  /** JSON text of the arguments of `preprocessor`, whose result then replaces `args`. */
  preprocessor_input?: string | undefined;
  /** Target of `./shared`. */
  shared?: string | undefined;
  max_result: number;
  /**
   * Sequence number of this run among those of the child, from 1. It may be sent before the previous run has ended.
   */
  sequence: number;
  /** It was sent while another run of the child had not ended, as far as the server knew. */
  ahead?: boolean;
}

/** To a child with prefetched runs: drop those that have not started and reply `recalled`. */
export interface Recall {
  t: "recall";
  /** Number of the recall, which its reply repeats. */
  number: number;
}

/** Reply to `refer`: the arguments with references resolved, or the error. */
export interface ReferenceReply {
  t: "referred";
  /** JSON text. */
  args?: string;
  error?: JobError;
}

/** To a child whose job is about to be ended: stop work in other processes and reply `stopped`. */
export interface Stop {
  t: "stop";
}

export type ToChild = Load | Exec | Run | Recall | ReferenceReply | Stop;

/** The child is ready for its next instruction. */
export interface Ready {
  t: "blank" | "channel" | "loaded" | "stopped";
}

export interface LoadFailed {
  t: "load_failed";
  error: JobError;
}

export interface Stream {
  t: "stream";
  text: string;
}

/** Asks the server to resolve the references in what a preprocessor returned. */
export interface ReferenceRequest {
  t: "refer";
  /** JSON text. */
  args: string;
}

/** Reply to `recall`: how many of the prefetched runs, from the last one back, were dropped before they started. */
export interface RecallReply {
  t: "recalled";
  number: number;
  count: number;
}

export interface Done {
  t: "done";
  /** `Run.sequence` of the run that it answers; absent where runs are not sent in advance. */
  sequence?: number;
  /** JSON text; absent if the job failed. */
  result?: string;
  error?: JobError;
  preprocessed_args?: string;
  /** Exit status of a hosted job's program, unless it reported an error. */
  exit?: ChildExit;
  mem_peak_kb?: number;
  /** Pipes with unread output that ends with the end mark (1 = stdout, 2 = stderr, 3 = both). */
  fence: number;
  /** A process or file of the job remains, so the process takes no other job. */
  leftovers: boolean;
  /** Time that the run took, failed or not; absent where runs are not sent in advance. */
  ran_ms?: number;
  /** Number of dropped runs, as in `RecallReply.count`. */
  dropped?: number;
}

export type FromChild = Ready | RecallReply | LoadFailed | Stream | ReferenceRequest | Done;
