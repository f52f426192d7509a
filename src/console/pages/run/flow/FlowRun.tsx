import { Alert, Anchor, Group, SegmentedControl, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useRef } from "react";
import { Link } from "wouter";
import type { Job } from "../../../api/interface.d.ts";
import { usePolling } from "../../../api/live.ts";
import { memberQuery, useMay } from "../../../api/session.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { formatDuration } from "../../../parts/elements/time.tsx";
import type { Decoration } from "../../../parts/flow/Card.tsx";
import { Graph } from "../../../parts/flow/Graph.tsx";
import { Iterations } from "../../../parts/flow/Iterations.tsx";
import {
  type FlowSteps,
  type Picked,
  RunModel,
  type StepJob,
  type StepRunState,
} from "../../../parts/flow/run-model.ts";
import { buildTree, type StepNode } from "../../../parts/flow/tree.ts";
import { linkTo } from "../../../parts/navigation/places.ts";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";
import { getRunState, STATES } from "../../../parts/runs/run-state.tsx";
import { ApprovalCard } from "./ApprovalCard.tsx";
import { flowStepsQuery, flowVersionQuery, useRestartRun } from "./queries.ts";
import { StepPanel } from "./StepPanel.tsx";
import { Timeline } from "./Timeline.tsx";

/** Runs with more jobs are polled less often. */
const MANY_JOBS = 500;

interface Props {
  workspace: string;
  job: Job;
}

/** The steps of a flow run, as a graph or a timeline, with details of the selected step. */
export default function FlowRun({ workspace, job }: Props) {
  const open = job.type === "QueuedJob";
  const listed = useQuery(flowStepsQuery(workspace, job.id));
  const many = (listed.data?.steps.length ?? 0) > MANY_JOBS;
  const live = usePolling(many ? 10_000 : 2_500);
  useQuery({ ...flowStepsQuery(workspace, job.id), ...(open ? live : {}) });
  // Last update of a run that has ended in the meantime.
  const ended = !open && listed.data?.steps.some(({ type }) => type === "QueuedJob");
  useQuery({ ...flowStepsQuery(workspace, job.id), refetchInterval: ended ? 1_000 : false });
  const version = useQuery(flowVersionQuery(workspace, listed.data?.version));
  const value = job.raw_flow ?? version.data?.value;
  const unknown = listed.data && value === undefined && !version.isLoading;
  const tree = useMemo(
    () => (value !== undefined ? buildTree(value) : unknown ? buildTree(createOutlineFlow(job)) : undefined),
    [value, unknown, job],
  );
  if (listed.error && !listed.data)
    return <Problem error={listed.error} retry={() => void listed.refetch()} />;
  if (!listed.data || !tree) return <Loading rows={4} />;
  return <Shown workspace={workspace} job={job} listed={listed.data} {...tree} />;
}

/** Creates a flow of the outermost steps only, for users who may not read the flow. */
const createOutlineFlow = ({ flow_status }: Job) => ({
  modules: flow_status?.modules.map(({ id }) => ({ id, value: {} })),
});

/** Parses `l:3,m:0`, the selected iterations of loops. */
const parsePicked = (text: string): Picked =>
  Object.fromEntries(
    text
      .split(",")
      .filter(Boolean)
      .map((each) => {
        const at = each.lastIndexOf(":");
        return [each.slice(0, at), Number(each.slice(at + 1))];
      }),
  );
const writePicked = (picked: Picked): string =>
  Object.entries(picked)
    .map(([id, index]) => `${id}:${index}`)
    .join(",");

interface ShownProps extends Props {
  listed: FlowSteps;
  nodes: StepNode[];
  failure: StepNode | undefined;
}

function Shown({ workspace, job, listed, nodes, failure }: ShownProps) {
  const { get, set } = useUrlParameters();
  const [view, chosen, at] = [get("view"), get("step"), get("at")];
  const panel = useRef<HTMLDivElement>(null);
  const member = useQuery(memberQuery(workspace)).data;
  const mayRestart = useMay(workspace)("POST /w/{workspace}/jobs/restart/f/{job_id}", "member");
  const mayEdit = useMay(workspace)("POST /w/{workspace}/flows/update/{path}", "author");
  const restart = useRestartRun(workspace, job.id);
  const all = useMemo(() => (failure ? [...nodes, failure] : nodes), [nodes, failure]);
  const picked = useMemo(() => parsePicked(at), [at]);
  const model = useMemo(() => new RunModel(all, job.id, listed, picked), [all, job.id, listed, picked]);
  const byId = useMemo(() => indexOf(all), [all]);
  const selected = chosen || (job.success === false ? model.culpritOf(nodes) : undefined) || "";
  const node = byId.get(selected);
  const select = useCallback(
    (step: string, places?: Picked) => {
      set({ step, ...(places ? { at: writePicked(places) } : {}) });
      // On a phone the details are below the graph.
      requestAnimationFrame(() => panel.current?.scrollIntoView({ block: "nearest" }));
    },
    [set],
  );
  const pick = useCallback(
    (id: string, index: number) => set({ at: writePicked({ ...picked, [id]: index }) }),
    [picked, set],
  );
  const status = useMemo(
    () => new Map(job.flow_status?.modules.map((module) => [module.id, module])),
    [job.flow_status],
  );
  const decorate = (id: string): Decoration | undefined => {
    const seen = model.seen.get(id);
    if (seen) return decorationOf(byId.get(id)!, seen, pick);
    const type = status.get(id)?.type;
    return type === "Success"
      ? { tone: "quiet", foot: <Foot word="Succeeded without a job" tone="quiet" /> }
      : undefined;
  };
  const selectJob = (found: StepJob) => {
    const places = { ...picked };
    for (
      let each: StepJob | undefined = found;
      each;
      each = listed.steps.find(({ id }) => id === each!.parent_job)
    ) {
      if (each.index !== undefined) places[each.step_id] = each.index;
    }
    select(found.step_id, places);
  };
  const restartable =
    mayRestart &&
    job.type === "CompletedJob" &&
    !job.is_flow_step &&
    // The retries of a script are no steps of it.
    job.job_kind !== "singlestepflow" &&
    nodes.some(({ id }) => id === selected) &&
    selected !== "preprocessor" &&
    (job.job_kind === "flow" || member?.operator === false);
  return (
    <>
      {listed.approvals.map((approval) => (
        <ApprovalCard key={approval.job_id} workspace={workspace} approval={approval} />
      ))}
      {listed.truncated && (
        <Alert color="gray" variant="light">
          Only the first {listed.steps.length} jobs of this run are shown.
        </Alert>
      )}
      <div className="flow-run">
        <section className="panel" aria-label="Steps">
          <div className="panel-head">
            <Title order={2}>Steps</Title>
            {job.job_kind === "flow" && job.script_path && typeof listed.version === "number" && (
              <Anchor
                component={Link}
                href={linkTo.flowVersion(workspace, job.script_path, listed.version)}
                fz="sm"
              >
                Version {listed.version}
              </Anchor>
            )}
            <SegmentedControl
              size="xs"
              aria-label="How the steps are shown"
              value={view === "timeline" ? view : "graph"}
              onChange={(next) => set({ view: next === "graph" ? "" : next })}
              data={[
                { value: "graph", label: "Graph" },
                { value: "timeline", label: "Timeline" },
              ]}
            />
          </div>
          {view === "timeline" ? (
            <Timeline
              root={job.id}
              steps={listed.steps}
              titles={new Map([...byId].map(([id, { title }]) => [id, title]))}
              selected={model.seen.get(selected)?.job?.id}
              select={selectJob}
            />
          ) : (
            <Graph
              nodes={nodes}
              failure={failure}
              selected={selected}
              select={(id) => select(id)}
              decorate={decorate}
            />
          )}
        </section>
        {node && (
          <div ref={panel} className="flow-run-step">
            <StepPanel
              workspace={workspace}
              node={node}
              seen={model.seen.get(node.id)}
              repair={
                mayEdit && job.script_path && job.job_kind === "flow"
                  ? linkTo.draw(workspace, job.script_path, { run: job.id, step: node.id })
                  : undefined
              }
              restart={{
                act: restartable ? (part) => restart.mutate({ step: node.id, part }) : undefined,
                pending: restart.isPending,
              }}
            />
          </div>
        )}
      </div>
    </>
  );
}

function indexOf(nodes: StepNode[], into = new Map<string, StepNode>()): Map<string, StepNode> {
  for (const node of nodes) {
    into.set(node.id, node);
    for (const { nodes } of node.bodies) indexOf(nodes, into);
  }
  return into;
}

function Foot({ word, tone }: { word: string; tone: string }) {
  return (
    <span className="state" data-tone={tone}>
      {word}
    </span>
  );
}

function timesOf(iterations: StepJob[]): string {
  const failed = iterations.filter((each) => getRunState(each) === "failed").length;
  return failed > 0 ? `${iterations.length} iterations, ${failed} failed` : `${iterations.length} iterations`;
}

function decorationOf(
  node: StepNode,
  seen: StepRunState,
  pick: (id: string, index: number) => void,
): Decoration {
  const { word, tone, Icon } = STATES[seen.state];
  const { job, attempts, iterations } = seen;
  const took =
    iterations.length === 0 && job?.duration_ms !== undefined ? formatDuration(job.duration_ms) : "";
  return {
    tone,
    branch: seen.branch,
    foot: (
      <>
        <span className="state" data-tone={tone}>
          <Icon size={15} aria-hidden />
          {word}
        </span>
        {took && <span className="quiet">{took}</span>}
        {attempts.length > 1 && <span className="quiet">{attempts.length} attempts</span>}
        {iterations.length > 0 && <span className="quiet">{timesOf(iterations)}</span>}
      </>
    ),
    head: iterations.length > 1 && (
      <Group px="sm" pb="xs">
        <Iterations
          of={node.title}
          iterations={iterations}
          picked={seen.picked ?? 0}
          pick={(index) => pick(node.id, index)}
        />
      </Group>
    ),
  };
}
