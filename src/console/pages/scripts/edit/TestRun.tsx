import { Button, Paper, Text, Title } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { callOperation } from "../../../api/call.ts";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { useHistoryState } from "../../../parts/form/history-state/use-history-state.ts";
import { LazySchemaForm } from "../../../parts/form/LazySchemaForm.tsx";
import { hasFields, prepareForm } from "../../../parts/form/prepare.ts";
import type { Language } from "../../../parts/items/languages.ts";
import { RunOutcome } from "../../../parts/runs/result/RunOutcome.tsx";

const FORM_ID = "test-arguments";
const nothing = () => {};

interface Props {
  workspace: string;
  path: string;
  language: Language;
  content: string;
  schema: unknown;
}

/** Runs the code in the editor. */
export function TestRun({ workspace, path, language, content, schema }: Props) {
  const [args, setArgs] = useHistoryState("test", schema, () => ({}));
  const fields = useMemo(() => hasFields(prepareForm(schema)), [schema]);
  // Set at once, unlike `isPending`, which a second press before the next rendering does not see yet.
  const isSubmitting = useRef(false);
  const begin = useMutation({
    mutationFn: () =>
      callOperation("POST /w/{workspace}/jobs/run/preview", {
        workspace,
        body: { content, language, args, ...(path ? { path } : {}) },
      }),
    onSettled: () => {
      isSubmitting.current = false;
    },
  });
  const start = () => {
    if (isSubmitting.current) return;
    isSubmitting.current = true;
    begin.mutate();
  };
  const submit = () => {
    const form = document.querySelector<HTMLFormElement>(`form#${FORM_ID}`);
    if (form) form.requestSubmit();
    else start();
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
          <LazySchemaForm
            id={FORM_ID}
            schema={schema}
            value={args}
            change={setArgs}
            submit={start}
            ready={nothing}
          />
        ) : (
          <Text c="dimmed">It takes no arguments.</Text>
        )}
        <Button mt="md" leftSection={<IconPlayerPlay size={16} />} loading={begin.isPending} onClick={submit}>
          Run what is in the editor
        </Button>
      </Paper>
      {begin.error && <Problem error={begin.error} />}
      {id && <RunOutcome key={id} workspace={workspace} id={id} code={content} path={path} />}
    </div>
  );
}
