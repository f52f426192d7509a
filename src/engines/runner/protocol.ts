/** What the pool and a child say to each other: one JSON object a line on the child's IPC socket. Types only. */
import type { ParameterBinding } from "../languages/types.ts";
import type { JobError } from "./types.ts";

/** To a blank child: become this script version for life. */
export interface Load {
  t: "load";
  file: string;
  /** Of a query: its text. `file` is then the module that runs such queries. */
  source?: string | undefined;
  /** How stack traces call the file. */
  display: string;
  /** Folder of the sources of the script and of those it imports: their frames are shown relative to it. */
  root: string;
  /** What Python calls the module. */
  module: string;
  /** Folder of the child's program, whose frames stack traces leave out. */
  runtime: string;
  parameters: ParameterBinding[];
  preprocessor_parameters: ParameterBinding[] | undefined;
  environment: Record<string, string>;
  /** Random text that marks the end of a job's output. */
  nonce: string;
  /** It takes one job. */
  once: boolean;
  /** Its code, or that of its packages, may make requests through `node:http`. */
  requests: boolean;
}

/** To a blank child: become another program. Arguments and environment are the whole of what it gets. */
export interface Exec {
  t: "exec";
  program: string;
  argv: string[];
  environment: Record<string, string>;
  /** Commands that a shell carries out before its script. They stand in memory alone: argv is everybody's to read. */
  prelude?: string;
  /** Python keeps the socket and speaks this protocol; a shell must not see it. */
  keep_channel: boolean;
}

/** To a loaded child: run one job. */
export interface Run {
  t: "run";
  /** Contextual variables that differ from those of the job before. */
  environment: Record<string, string>;
  entrypoint: string;
  /** JSON text. */
  args: string;
  /** JSON text of the arguments object of `preprocessor`, whose result then replaces `args`. */
  preprocessor_input?: string | undefined;
  /** Where `./shared` leads. */
  shared?: string | undefined;
  max_result: number;
}

/** To a child that asked by `refer`: the same arguments without references, or why that cannot be. */
export interface Referred {
  t: "referred";
  /** JSON text. */
  args?: string;
  error?: JobError;
}

/** To a child whose job is about to be ended: end what runs on its behalf elsewhere, and say `stopped`. */
export interface Stop {
  t: "stop";
}

export type ToChild = Load | Exec | Run | Referred | Stop;

/** A child that can take its next instruction: blank at first, then loaded. */
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

/** The arguments that a preprocessor has made hold what may be references. */
export interface Refer {
  t: "refer";
  /** JSON text. */
  args: string;
}

export interface Done {
  t: "done";
  /** JSON text; absent when the job failed. */
  result?: string;
  error?: JobError;
  preprocessed_args?: string;
  mem_peak_kb?: number;
  /** Output still in the pipes: the end mark was written to these (1 = stdout, 2 = stderr, 3 = both). */
  fence: number;
  /** Something the job started is still running, or stands in its folder: the process takes no other. */
  leftovers: boolean;
}

export type FromChild = Ready | LoadFailed | Stream | Refer | Done;
