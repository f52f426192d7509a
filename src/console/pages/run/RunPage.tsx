import { Anchor, Button, Group, Progress, Title } from "@mantine/core";
import { IconPencil, IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Link, useParams } from "wouter";
import { getOperationUrl } from "../../api/call.ts";
import { useMayCancel } from "../../api/item-rights.ts";
import { usePolling } from "../../api/live.ts";
import { runQuery } from "../../api/runs.ts";
import { Loading } from "../../parts/elements/Loading.tsx";
import { PageHead } from "../../parts/elements/PageHead.tsx";
import { Problem } from "../../parts/elements/Problem.tsx";
import { linkTo, useWorkspace } from "../../parts/navigation/places.ts";
import { Log } from "../../parts/runs/log/Log.tsx";
import { RunValue } from "../../parts/runs/result/RunValue.tsx";
import { useRunProgress } from "../../parts/runs/run-progress.ts";
import { findDeployedRunnable, formatRunName, State } from "../../parts/runs/run-state.tsx";
import { Facts } from "./Facts.tsx";
import { useCancelRun, useRerun, useRunSource } from "./queries.ts";

const FlowRun = lazy(() => import("./flow/FlowRun.tsx"));

export default function RunPage() {
  const workspace = useWorkspace();
  const { id } = useParams<{ id: string }>();
  const run = useQuery({
    ...runQuery(workspace, id),
    // Logs are streamed; status and steps are polled.
    ...usePolling(3_000),
    ...(isOver(id) ? { refetchInterval: false as const } : {}),
  });
  const job = run.data;
  if (job?.type === "CompletedJob") over.add(id);
  const { log, stream, memory, progress } = useRunProgress(workspace, job);
  const source = useRunSource(workspace, job);
  const cancel = useCancelRun(workspace);
  const again = useRerun(workspace);
  const mayCancel = useMayCancel(workspace);
  const deployed = job && findDeployedRunnable(job);
  const above = (
    <Group gap="md">
      <Anchor component={Link} href={linkTo.runs(workspace)} fz="sm">
        Runs
      </Anchor>
      {deployed && (
        <>
          <Anchor component={Link} href={linkTo.runs(workspace, { path: deployed.path })} fz="sm">
            Other runs
          </Anchor>
          <Anchor component={Link} href={linkTo[deployed.kind](workspace, deployed.path)} fz="sm">
            {deployed.kind === "flow" ? "The flow" : "The script"}
          </Anchor>
        </>
      )}
    </Group>
  );
  if (!job) {
    return (
      <div className="page">
        <PageHead title="Run" above={above} />
        {run.error ? <Problem error={run.error} retry={() => void run.refetch()} /> : <Loading />}
      </div>
    );
  }
  const open = job.type === "QueuedJob";
  return (
    <div className="page">
      <PageHead title={formatRunName(job)} above={above} about={<State job={job} />}>
        {deployed && (
          <>
            <Button
              variant="default"
              leftSection={<IconRefresh size={16} />}
              loading={again.isPending}
              onClick={() => again.mutate(id)}
            >
              Run again
            </Button>
            <Button
              variant="default"
              component={Link}
              leftSection={<IconPencil size={16} />}
              href={linkTo.beginLike(workspace, deployed.kind, deployed.path, id)}
            >
              Change and run
            </Button>
          </>
        )}
        {open && mayCancel(job) && (
          <Button
            color="red"
            variant="light"
            leftSection={<IconPlayerStop size={16} />}
            loading={cancel.isPending}
            onClick={() => cancel.mutate(id)}
          >
            Cancel
          </Button>
        )}
      </PageHead>
      <Facts workspace={workspace} job={job} memory={memory} />
      {open && progress !== undefined && <Progress value={progress} mb="md" aria-label="Progress" />}
      <div className="stack">
        {job.flow_status && (
          <Suspense fallback={<Loading rows={4} />}>
            <FlowRun workspace={workspace} job={job} />
          </Suspense>
        )}
        <div className="two">
          <RunValue title="Arguments" workspace={workspace} job={job} part="args" />
          {open ? (
            <section className="panel" aria-label="Result">
              <div className="panel-head">
                <Title order={2}>Result</Title>
              </div>
              <pre className="plain">{stream || "No result yet."}</pre>
            </section>
          ) : (
            <RunValue title="Result" workspace={workspace} job={job} part="result" source={source} />
          )}
        </div>
        <Log
          buffer={log}
          live={open}
          href={getOperationUrl("GET /w/{workspace}/jobs_u/get_logs/{id}", { workspace, id })}
        />
      </div>
    </div>
  );
}

/** Ids of completed runs, which are not polled. */
const over = new Set<string>();
const isOver = (id: string) => over.has(id);
