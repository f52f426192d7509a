/** The jobs of a flow's steps. */

import type { Step } from "../../../../engines/flow-engine/state.ts";
import type { FlowModule } from "../../../../engines/flow-engine/types.ts";
import { runtimeOf } from "../../../../engines/languages/languages.ts";
import { NotFound } from "../../../../lib/errors.ts";
import { refuseDeep } from "../../../../lib/json/depth.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { findReadable, type NotRunnable } from "../../../../platform/access/permissions.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { JobKind } from "../../../../platform/queue/states.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { type DeployedFlow, deployedFlowByPath } from "../../../code/flows/versions.ts";
import { type Deployed, deployedByHash, deployedByPath } from "../../../code/scripts/versions.ts";
import { memberOfJob } from "../../../tenancy/people/members.ts";
import { interpolate } from "../../arguments/tag-template.ts";
import { requireTagFor } from "../../job/custom-tags.ts";
import { UNFINISHED } from "../../job/row-defaults.ts";
import type { FlowRun, LiveFrame, StoredBody } from "../run.ts";

export type RunStep = Extract<Step, { type: "run" }>;
export type FrameStep = Extract<Step, { type: "frame" }>;

interface What {
  id: string;
  kind: JobKind;
  module: string;
  index: number | undefined;
  args: string;
}

/** What every step of a flow takes over from it. */
function childRow(app: App, run: FlowRun, frame: LiveFrame, what: What): Job {
  const { job } = frame.flow;
  const now = app.clock();
  return {
    ...UNFINISHED,
    id: what.id,
    kind: what.kind,
    args: what.args,
    workspace_id: job.workspace_id,
    state: "queued",
    created_by: job.created_by,
    permissioned_as: job.permissioned_as,
    email: job.email,
    started_by: job.started_by,
    created_at: now,
    scheduled_for: now,
    started_at: null,
    last_ping: null,
    worker: null,
    script_path: null,
    script_hash: null,
    language: null,
    tag: "flow",
    priority: job.priority,
    timeout_s: null,
    raw_code: null,
    raw_lock: null,
    preprocessor_input: null,
    parent_job: frame.id,
    root_job: run.root_id,
    request_id: job.request_id,
    visible_to_owner: job.visible_to_owner,
    trigger_kind: job.trigger_kind,
    schedule_path: job.schedule_path,
    flow_step_id: what.module,
    flow_index: what.index ?? null,
    flow_version: job.flow_version,
    raw_flow: null,
    flow_body: null,
    concurrency_key: null,
    concurrent_limit: null,
    concurrency_time_window_s: null,
    cache_ttl: null,
    delete_after_use: false,
  };
}

/** The job of a nested frame: it waits for its own steps, so no worker holds it. */
export function frameRow(app: App, run: FlowRun, frame: LiveFrame, step: FrameStep): Job {
  const { job: id, module, index, iter, body } = step;
  const row = childRow(app, run, frame, {
    id,
    kind: "flownode",
    module,
    index,
    args: JSON.stringify(iter ? { iter } : {}),
  });
  const stored: StoredBody = { module, body, ...(iter ? { iter } : {}) };
  return { ...row, state: "running", started_at: row.created_at, flow_body: JSON.stringify(stored) };
}

/** What a leaf turns out to be. */
export type Leaf =
  /** A process runs it. */
  | { kind: "job"; job: Job }
  /** Its arguments are its result. */
  | { kind: "identity"; job: Job }
  /** Another flow. */
  | { kind: "flow"; job: Job; deployed: DeployedFlow };

/** @throws NotFound, BadRequest when what the step names cannot run, Forbidden for its tag */
export async function leafRow(app: App, run: FlowRun, frame: LiveFrame, step: RunStep): Promise<Leaf> {
  const { leaf, index, args } = step;
  const text = JSON.stringify(args ?? null);
  refuseDeep(text, "what the step is given");
  const row = childRow(app, run, frame, {
    id: step.job,
    kind: "flowscript",
    module: step.module,
    index,
    args: text,
  });
  if (leaf.priority !== undefined) row.priority = leaf.priority;
  if (step.timeout_s) row.timeout_s = step.timeout_s;
  if (leaf.cache_ttl && !leaf.delete_after_use) row.cache_ttl = leaf.cache_ttl;
  const { value } = leaf;
  switch (value.type) {
    case "rawscript":
      return { kind: "job", job: await rawScriptRow(app, frame, leaf, handed(row, args, value.language)) };
    case "script":
      return { kind: "job", job: await scriptRow(app, row, args, value) };
    case "flow":
      return flowRow(app, row, value.path);
    default:
      return { kind: "identity", job: { ...row, kind: "identity" } };
  }
}

/** What came from outside stands where it is kept until the preprocessor has run, and is shown to nobody. */
function handed(row: Job, given: unknown, language: string): Job {
  const args = argsText(given, language);
  return row.flow_step_id === "preprocessor"
    ? { ...row, args: "{}", preprocessor_input: args }
    : { ...row, args };
}

/** An undefined argument is one that is left out in JavaScript, which has defaults for it; elsewhere it is null. */
function argsText(args: unknown, language: string): string {
  const runtime = runtimeOf(language);
  if (runtime === "bun" || runtime === "nativets" || !isJsonObject(args)) return JSON.stringify(args ?? null);
  const given = Object.entries(args).map(([name, value]) => [name, value ?? null] as const);
  return JSON.stringify(Object.fromEntries(given));
}

/**
 * What a step names, when whoever the flow runs as may read it: a flow lends nobody its author's rights.
 * @throws NotFound, NotRunnable
 */
async function readable<T extends NotRunnable["item"]>(
  app: App,
  job: Job,
  what: string,
  find: () => T | Promise<T>,
): Promise<T> {
  const found = memberOfJob(app, job);
  const member = found instanceof Promise ? await found : found;
  if (!member || member.disabled) {
    throw new NotFound(
      `${what}: ${job.permissioned_as}, who runs the flow, is no active member of the workspace`,
    );
  }
  return findReadable(member, `${what}, for ${job.permissioned_as} who runs the flow,`, find);
}

/** The tag of a step, filled in. @throws Forbidden when whoever started the flow may not give it */
async function tagOf(app: App, job: Job, written: string, args: string): Promise<string> {
  const { workspace_id } = job;
  const tag = interpolate(written, { workspace_id, args });
  await requireTagFor(app, { workspace_id, email: job.started_by ?? job.email }, { tag, written });
  return tag;
}

async function rawScriptRow(app: App, frame: LiveFrame, leaf: FlowModule, row: Job): Promise<Job> {
  const { value } = leaf;
  if (value.type !== "rawscript") return row;
  const { job } = frame.flow;
  const scope = { workspace_id: job.workspace_id, args: row.args };
  const isPreview = frame.flow.job.raw_flow !== null;
  const key = `${job.workspace_id}/flow/${job.script_path ?? job.id}/${leaf.id}`;
  return {
    ...row,
    script_path: `${job.script_path ?? "flow"}/${leaf.id}`,
    language: value.language,
    // The tag of a flow that was given none says where flows run, not scripts.
    tag: value.tag
      ? await tagOf(app, row, value.tag, row.args)
      : job.tag === "flow"
        ? value.language
        : job.tag,
    raw_code: isPreview ? value.content : null,
    raw_lock: isPreview ? (value.lock ?? null) : null,
    concurrency_key: value.concurrent_limit ? interpolate(value.custom_concurrency_key ?? key, scope) : null,
    concurrent_limit: value.concurrent_limit || null,
    concurrency_time_window_s: value.concurrency_time_window_s ?? null,
  };
}

async function scriptRow(
  app: App,
  plain: Job,
  args: unknown,
  {
    path,
    hash,
    tag_override,
  }: { path: string; hash?: string | undefined; tag_override?: string | undefined },
): Promise<Job> {
  const deployed: Deployed = await readable(
    app,
    plain,
    hash ? `script with hash ${hash}` : `script ${path}`,
    () =>
      hash ? deployedByHash(app, plain.workspace_id, hash) : deployedByPath(app, plain.workspace_id, path),
  );
  const row = handed(plain, args, deployed.version.language);
  const scope = { workspace_id: row.workspace_id, args: row.args };
  const { concurrency } = deployed;
  const key = concurrency?.key ?? `${row.workspace_id}/script/${deployed.path}`;
  return {
    ...row,
    kind: "script",
    script_path: deployed.path,
    script_hash: deployed.hash,
    language: deployed.version.language,
    tag: await tagOf(app, row, tag_override || deployed.tag, row.args),
    timeout_s: row.timeout_s ?? deployed.timeout_s ?? null,
    cache_ttl: row.cache_ttl ?? deployed.cache_ttl ?? null,
    concurrency_key: concurrency ? interpolate(key, scope) : null,
    concurrent_limit: concurrency?.limit ?? null,
    concurrency_time_window_s: concurrency?.window_s ?? null,
  };
}

function shorter(a: number | null, b: number | undefined): number | null {
  return a === null || b === undefined ? (a ?? b ?? null) : Math.min(a, b);
}

async function flowRow(app: App, row: Job, path: string): Promise<Leaf> {
  const deployed = await readable(app, row, `flow ${path}`, () =>
    deployedFlowByPath(app, row.workspace_id, path),
  );
  const job: Job = {
    ...row,
    kind: "flow",
    state: "running",
    started_at: row.created_at,
    script_path: deployed.path,
    flow_version: deployed.version,
    tag: await tagOf(app, row, deployed.tag ?? "flow", row.args),
    timeout_s: shorter(row.timeout_s, deployed.timeout_s),
    cache_ttl: row.cache_ttl ?? deployed.value.cache_ttl ?? null,
  };
  return { kind: "flow", job, deployed };
}
