import { Button, Paper, Text, Title } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconPlayerPlay, IconPlayerStop } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState } from "react";
import { addressOf, call } from "../../../api/call.ts";
import { useLive } from "../../../api/live.ts";
import { oneRun, useFollowing } from "../../../parts/following.ts";
import { hasFields, prepare } from "../../../parts/form/prepare.ts";
import { Loading } from "../../../parts/Loading.tsx";
import { Log } from "../../../parts/log/Log.tsx";
import { Problem, tellProblem } from "../../../parts/Problem.tsx";
import { ResultPanel } from "../../../parts/result/ResultPanel.tsx";
import { State } from "../../../parts/run-state.tsx";
import type { Language } from "../../../parts/scripts.ts";

const SchemaForm = lazy(() => import("../../../parts/form/SchemaForm.tsx"));
const FORM_ID = "test-arguments";
const nothing = () => {};

interface Props {
  workspace: string;
  path: string;
  language: Language;
  content: string;
  schema: unknown;
}

/** Runs what is in the editor, deployed or not. */
export function TestRun({ workspace, path, language, content, schema }: Props) {
  const [args, setArgs] = useState<Record<string, unknown>>({});
  const fields = useMemo(() => hasFields(prepare(schema)), [schema]);
  const begin = useMutation({
    mutationFn: () =>
      call("POST /w/{workspace}/jobs/run/preview", {
        workspace,
        body: { content, language, args, ...(path ? { path } : {}) },
      }),
  });
  const submit = () => {
    const form = document.querySelector<HTMLFormElement>(`form#${FORM_ID}`);
    if (form) form.requestSubmit();
    else begin.mutate();
  };
  useHotkeys([["mod+Enter", submit]], [], true);
  const id = begin.data?.trim();
  return (
    <div className="stack">
      <Paper p="md">
        <Title order={2} mb="sm">
          Test
        </Title>
        {fields ? (
          <Suspense fallback={<Loading rows={2} />}>
            <SchemaForm
              id={FORM_ID}
              schema={schema}
              value={args}
              change={setArgs}
              submit={() => begin.mutate()}
              ready={nothing}
            />
          </Suspense>
        ) : (
          <Text c="dimmed">It takes no arguments.</Text>
        )}
        <Button mt="md" leftSection={<IconPlayerPlay size={16} />} loading={begin.isPending} onClick={submit}>
          Run what is in the editor
        </Button>
      </Paper>
      {begin.error && <Problem error={begin.error} />}
      {id && <Outcome key={id} workspace={workspace} id={id} code={content} path={path} />}
    </div>
  );
}

interface OutcomeProps {
  workspace: string;
  id: string;
  code: string;
  path: string;
}

function Outcome({ workspace, id, code, path }: OutcomeProps) {
  const [isOver, setOver] = useState(false);
  // The code that ran, whatever is written meanwhile.
  const [ran] = useState(code);
  const run = useQuery({
    ...oneRun(workspace, id),
    ...useLive(1_000),
    ...(isOver ? { refetchInterval: false as const } : {}),
  });
  const job = run.data;
  if (job?.type === "CompletedJob" && !isOver) setOver(true);
  const { log, stream } = useFollowing(workspace, job);
  if (!job) return run.error ? <Problem error={run.error} /> : <Loading rows={2} />;
  const isOpen = job.type === "QueuedJob";
  const cancel = () =>
    call("POST /w/{workspace}/jobs_u/queue/cancel/{id}", { workspace, id, body: {} }).catch(tellProblem);
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
        <ResultPanel
          title="Result"
          workspace={workspace}
          value={job.result}
          source={{ path: path || undefined, code: ran }}
        />
      )}
      <Log
        buffer={log}
        live={isOpen}
        href={addressOf("GET /w/{workspace}/jobs_u/get_logs/{id}", { workspace, id })}
      />
    </>
  );
}
