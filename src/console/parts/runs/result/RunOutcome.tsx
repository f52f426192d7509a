import { Button } from "@mantine/core";
import { IconPlayerStop } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { callOperation, getOperationUrl } from "../../../api/call.ts";
import { usePolling } from "../../../api/live.ts";
import { runQuery } from "../../../api/runs.ts";
import { Loading } from "../../elements/Loading.tsx";
import { notifyError, Problem } from "../../elements/Problem.tsx";
import { Log } from "../log/Log.tsx";
import { useRunProgress } from "../run-progress.ts";
import { State } from "../run-state.tsx";
import { RunValue } from "./RunValue.tsx";

interface Props {
  workspace: string;
  id: string;
  code: string;
  path: string;
  /** Rendered below the result of a completed run. */
  children?: (result: unknown) => ReactNode;
}

/** State, result and log of a run that was just started. */
export function RunOutcome({ workspace, id, code, path, children }: Props) {
  const [isOver, setOver] = useState(false);
  // The executed code, even if it has been edited in the meantime.
  const [ran] = useState(code);
  const run = useQuery({
    ...runQuery(workspace, id),
    ...usePolling(1_000),
    ...(isOver ? { refetchInterval: false as const } : {}),
  });
  const job = run.data;
  if (job?.type === "CompletedJob" && !isOver) setOver(true);
  const { log, stream } = useRunProgress(workspace, job);
  if (!job) return run.error ? <Problem error={run.error} /> : <Loading rows={2} />;
  const isOpen = job.type === "QueuedJob";
  const cancel = () =>
    callOperation("POST /w/{workspace}/jobs_u/queue/cancel/{id}", { workspace, id, body: {} }).catch(
      notifyError,
    );
  return (
    <>
      <div className="line">
        <State job={job} />
        {isOpen && (
          <Button
            size="xs"
            variant="light"
            color="red"
            leftSection={<IconPlayerStop size={14} />}
            onClick={() => void cancel()}
          >
            Cancel
          </Button>
        )}
      </div>
      {isOpen ? (
        stream && <pre className="plain">{stream}</pre>
      ) : (
        <RunValue
          title="Result"
          workspace={workspace}
          job={job}
          part="result"
          source={{ path: path || undefined, code: ran }}
        />
      )}
      {!isOpen && children?.(job.result)}
      <Log
        buffer={log}
        live={isOpen}
        href={getOperationUrl("GET /w/{workspace}/jobs_u/get_logs/{id}", { workspace, id })}
      />
    </>
  );
}
