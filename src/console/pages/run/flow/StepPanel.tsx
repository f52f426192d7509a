import { Alert, Anchor, Button, Group, Text, Title } from "@mantine/core";
import { IconPencil, IconPlayerTrackNext } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { getOperationUrl } from "../../../api/call.ts";
import { usePolling } from "../../../api/live.ts";
import { runQuery } from "../../../api/runs.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { formatDuration } from "../../../parts/elements/time.tsx";
import type { StepRunState } from "../../../parts/flow/run-model.ts";
import type { StepNode } from "../../../parts/flow/tree.ts";
import { linkTo } from "../../../parts/navigation/places.ts";
import { Log } from "../../../parts/runs/log/Log.tsx";
import { RunValue } from "../../../parts/runs/result/RunValue.tsx";
import { useRunProgress } from "../../../parts/runs/run-progress.ts";
import { STATES, State } from "../../../parts/runs/run-state.tsx";
import { useRunSource } from "../queries.ts";

export interface Restart {
  /** Undefined: no actions are offered. */
  act: ((part: number | undefined) => void) | undefined;
  pending: boolean;
}

interface Props {
  workspace: string;
  node: StepNode;
  seen: StepRunState | undefined;
  restart: Restart;
  /** Address of the editor with this step open; undefined: not offered. */
  repair: string | undefined;
}

/** Inputs, log and result of a step. */
export function StepPanel({ workspace, node, seen, restart, repair }: Props) {
  const job = seen?.job;
  return (
    <section aria-label={`Step ${node.title}`} className="stack">
      <div>
        <Group justify="space-between" align="flex-start">
          <div style={{ minWidth: 0 }}>
            <Title order={2} className="wrap">
              {node.title}
            </Title>
            <Group gap="md" mt={4}>
              {job && seen.iterations.length === 0 ? (
                <State job={seen.state === "suspended" ? { ...job, type: "QueuedJob", suspend: 1 } : job} />
              ) : (
                <Text c="dimmed">{seen ? STATES[seen.state].word : "It has not run."}</Text>
              )}
              {job?.duration_ms !== undefined && <Text c="dimmed">{formatDuration(job.duration_ms)}</Text>}
              {job && (
                <Anchor component={Link} href={linkTo.run(workspace, job.id)} fz="sm">
                  {seen.iterations.length > 0 ? `Run of iteration ${(seen.picked ?? 0) + 1}` : "Open its run"}
                </Anchor>
              )}
            </Group>
          </div>
          <Group gap="xs">
            {repair && (
              <Button
                size="xs"
                variant="default"
                component={Link}
                href={repair}
                leftSection={<IconPencil size={14} />}
              >
                {seen?.state === "failed" ? "Fix the step" : "Edit the step"}
              </Button>
            )}
            {seen && restart.act && (
              <>
                <Button
                  size="xs"
                  variant="default"
                  leftSection={<IconPlayerTrackNext size={14} />}
                  loading={restart.pending}
                  onClick={() => restart.act?.(undefined)}
                >
                  Run again from here
                </Button>
                {seen.iterations.length > 1 && (
                  <Button
                    size="xs"
                    variant="default"
                    loading={restart.pending}
                    onClick={() => restart.act?.(seen.picked)}
                  >
                    From iteration {(seen.picked ?? 0) + 1}
                  </Button>
                )}
              </>
            )}
          </Group>
        </Group>
        {seen && seen.attempts.length > 1 && (
          <Text mt={4} c="dimmed">
            {seen.attempts.length} attempts:{" "}
            {seen.attempts.map((attempt, index) => (
              <span key={attempt.id}>
                {index > 0 && ", "}
                <Anchor component={Link} href={linkTo.run(workspace, attempt.id)} fz="sm" underline="always">
                  {index + 1}
                </Anchor>
              </span>
            ))}
          </Text>
        )}
      </div>
      {job && <StepRun key={job.id} workspace={workspace} id={job.id} open={job.type === "QueuedJob"} />}
    </section>
  );
}

function StepRun({ workspace, id, open }: { workspace: string; id: string; open: boolean }) {
  const live = usePolling(3_000);
  const run = useQuery({ ...runQuery(workspace, id), ...(open ? live : {}) });
  const job = run.data;
  const { log, stream } = useRunProgress(workspace, job);
  const source = useRunSource(workspace, job);
  if (run.error && !job) return <Problem error={run.error} retry={() => void run.refetch()} />;
  if (!job) return <Loading rows={3} />;
  return (
    <>
      {job.type === "CompletedJob" ? (
        <RunValue title="Step's result" workspace={workspace} job={job} part="result" source={source} />
      ) : (
        <Alert color="gray" variant="light">
          {stream || "Its result is not there yet."}
        </Alert>
      )}
      <RunValue title="Step's input" workspace={workspace} job={job} part="args" />
      <Log
        title="Step's log"
        buffer={log}
        live={job.type === "QueuedJob"}
        href={getOperationUrl("GET /w/{workspace}/jobs_u/get_logs/{id}", { workspace, id })}
      />
    </>
  );
}
