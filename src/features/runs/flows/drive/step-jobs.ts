/** Creates the jobs of a flow's steps. */

import type { EngineCommand } from "../../../../engines/flow-engine/state.ts";
import type { FlowModule } from "../../../../engines/flow-engine/types.ts";
import { findRuntime } from "../../../../engines/languages/languages.ts";
import { NotFound } from "../../../../lib/errors.ts";
import { requireJsonDepth } from "../../../../lib/json/depth.ts";
import { isJsonObject } from "../../../../lib/json/json.ts";
import { findReadable, type NotRunnable } from "../../../../platform/access/permissions.ts";
import type { App } from "../../../../platform/app/context.ts";
import type { JobKind } from "../../../../platform/queue/states.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import { type DeployedFlow, getDeployedFlowByPath } from "../../../code/flows/versions.ts";
import {
  type DeployedScript,
  getDeployedScriptByHash,
  getDeployedScriptByPath,
} from "../../../code/scripts/versions.ts";
import { resolveJobMember } from "../../../tenancy/people/members.ts";
import { renderTagTemplate } from "../../arguments/tag-template.ts";
import { requireTagAllowed } from "../../job/custom-tags.ts";
import { JOB_ROW_DEFAULTS } from "../../job/row-defaults.ts";
import type { FlowRun, LiveFrame, StoredFrameBody } from "../live-run.ts";

export type RunStep = Extract<EngineCommand, { type: "run" }>;
export type FrameStep = Extract<EngineCommand, { type: "frame" }>;

interface ChildJob {
  id: string;
  kind: JobKind;
  module: string;
  index: number | undefined;
  args: string;
}

/** Creates the row of a step's job, with the fields that it inherits from the flow. */
function createChildRow(app: App, run: FlowRun, frame: LiveFrame, what: ChildJob): Job {
  const { job } = frame.flow;
  const now = app.clock();
  return {
    ...JOB_ROW_DEFAULTS,
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
    raw_modules: null,
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

/** Creates the job of a nested frame. It waits for its own steps, so no worker holds it. */
export function createFrameRow(app: App, run: FlowRun, frame: LiveFrame, step: FrameStep): Job {
  const { job: id, module, index, iter, body } = step;
  const row = createChildRow(app, run, frame, {
    id,
    kind: "flownode",
    module,
    index,
    args: JSON.stringify(iter ? { iter } : {}),
  });
  const stored: StoredFrameBody = { module, body, ...(iter ? { iter } : {}) };
  return { ...row, state: "running", started_at: row.created_at, flow_body: JSON.stringify(stored) };
}

/** The job of a step without steps of its own. */
export type LeafJob =
  /** A process runs it. */
  | { kind: "job"; job: Job }
  /** Its arguments are its result. */
  | { kind: "identity"; job: Job }
  /** It calls another flow. */
  | { kind: "flow"; job: Job; deployed: DeployedFlow };

/** Creates the job of a leaf. @throws NotFound, BadRequest if the step's target cannot run, Forbidden for its tag */
export async function createLeafRow(
  app: App,
  run: FlowRun,
  frame: LiveFrame,
  step: RunStep,
): Promise<LeafJob> {
  const { leaf, index, args } = step;
  const text = JSON.stringify(args ?? null);
  requireJsonDepth(text, "what the step is given");
  const row = createChildRow(app, run, frame, {
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
      return {
        kind: "job",
        job: await createInlineScriptRow(app, frame, leaf, setStepArguments(row, args, value.language)),
      };
    case "script":
      return { kind: "job", job: await createScriptRow(app, row, args, value) };
    case "flow":
      return createFlowRow(app, row, value.path);
    default:
      return { kind: "identity", job: { ...row, kind: "identity" } };
  }
}

/** Sets a step's arguments. The preprocessor's input is kept apart, because it is shown to nobody. */
function setStepArguments(row: Job, given: unknown, language: string): Job {
  const args = encodeArguments(given, language);
  if (row.flow_step_id === "preprocessor")
    return Object.assign(row, { args: "{}", preprocessor_input: args });
  row.args = args;
  return row;
}

/** Encodes arguments. JavaScript leaves undefined ones out, so that defaults apply; other languages get null. */
function encodeArguments(args: unknown, language: string): string {
  const runtime = findRuntime(language);
  if (runtime === "bun" || runtime === "nativets" || !isJsonObject(args)) return JSON.stringify(args ?? null);
  const given = Object.entries(args).map(([name, value]) => [name, value ?? null] as const);
  return JSON.stringify(Object.fromEntries(given));
}

/**
 * Finds a step's script or flow with the rights of the user the flow runs as, not those of its author.
 * @throws NotFound, NotRunnable
 */
async function findForFlow<T extends NotRunnable["item"]>(
  app: App,
  job: Job,
  what: string,
  find: () => T | Promise<T>,
): Promise<T> {
  const found = resolveJobMember(app, job);
  const member = found instanceof Promise ? await found : found;
  if (!member || member.disabled) {
    throw new NotFound(
      `${what}: ${job.permissioned_as}, who runs the flow, is not an active member of the workspace`,
    );
  }
  return findReadable(member, `${what}, for ${job.permissioned_as} who runs the flow,`, find);
}

/** Renders a step's tag. @throws Forbidden if the user who started the flow may not use it */
async function renderStepTag(app: App, job: Job, written: string, args: string): Promise<string> {
  const { workspace_id } = job;
  const tag = renderTagTemplate(written, { workspace_id, args });
  await requireTagAllowed(app, { workspace_id, email: job.started_by ?? job.email }, { tag, written });
  return tag;
}

async function createInlineScriptRow(app: App, frame: LiveFrame, leaf: FlowModule, row: Job): Promise<Job> {
  const { value } = leaf;
  if (value.type !== "rawscript") return row;
  const { job } = frame.flow;
  const scope = { workspace_id: job.workspace_id, args: row.args };
  const isPreview = frame.flow.job.raw_flow !== null;
  const key = `${job.workspace_id}/flow/${job.script_path ?? job.id}/${leaf.id}`;
  return Object.assign(row, {
    script_path: `${job.script_path ?? "flow"}/${leaf.id}`,
    language: value.language,
    // `flow` is the default tag of flows: it must not route their scripts.
    tag: value.tag
      ? await renderStepTag(app, row, value.tag, row.args)
      : job.tag === "flow"
        ? value.language
        : job.tag,
    raw_code: isPreview ? value.content : null,
    raw_lock: isPreview ? (value.lock ?? null) : null,
    concurrency_key: value.concurrent_limit
      ? renderTagTemplate(value.custom_concurrency_key ?? key, scope)
      : null,
    concurrent_limit: value.concurrent_limit || null,
    concurrency_time_window_s: value.concurrency_time_window_s ?? null,
  });
}

async function createScriptRow(
  app: App,
  plain: Job,
  args: unknown,
  {
    path,
    hash,
    tag_override,
  }: { path: string; hash?: string | undefined; tag_override?: string | undefined },
): Promise<Job> {
  const deployed: DeployedScript = await findForFlow(
    app,
    plain,
    hash ? `script with hash ${hash}` : `script ${path}`,
    () =>
      hash
        ? getDeployedScriptByHash(app, plain.workspace_id, hash)
        : getDeployedScriptByPath(app, plain.workspace_id, path),
  );
  const row = setStepArguments(plain, args, deployed.version.language);
  const scope = { workspace_id: row.workspace_id, args: row.args };
  const { concurrency } = deployed;
  const key = concurrency?.key ?? `${row.workspace_id}/script/${deployed.path}`;
  return Object.assign(row, {
    kind: "script" as const,
    script_path: deployed.path,
    script_hash: deployed.hash,
    language: deployed.version.language,
    tag: await renderStepTag(app, row, tag_override || deployed.tag, row.args),
    timeout_s: row.timeout_s ?? deployed.timeout_s ?? null,
    cache_ttl: row.cache_ttl ?? deployed.cache_ttl ?? null,
    concurrency_key: concurrency ? renderTagTemplate(key, scope) : null,
    concurrent_limit: concurrency?.limit ?? null,
    concurrency_time_window_s: concurrency?.window_s ?? null,
  });
}

function shorterTimeout(a: number | null, b: number | undefined): number | null {
  return a === null || b === undefined ? (a ?? b ?? null) : Math.min(a, b);
}

async function createFlowRow(app: App, row: Job, path: string): Promise<LeafJob> {
  const deployed = await findForFlow(app, row, `flow ${path}`, () =>
    getDeployedFlowByPath(app, row.workspace_id, path),
  );
  const job: Job = {
    ...row,
    kind: "flow",
    state: "running",
    started_at: row.created_at,
    script_path: deployed.path,
    flow_version: deployed.version,
    tag: await renderStepTag(app, row, deployed.tag ?? "flow", row.args),
    timeout_s: shorterTimeout(row.timeout_s, deployed.timeout_s),
    cache_ttl: row.cache_ttl ?? deployed.value.cache_ttl ?? null,
  };
  return { kind: "flow", job, deployed };
}
