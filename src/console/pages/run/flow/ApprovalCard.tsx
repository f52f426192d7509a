import { Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { IconCheck, IconX } from "@tabler/icons-react";
import { useCallback, useId, useMemo, useState } from "react";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import type { Approval } from "../../../parts/flow/run-model.ts";
import { LazySchemaForm } from "../../../parts/form/LazySchemaForm.tsx";
import { hasFields, prepareForm } from "../../../parts/form/prepare.ts";
import { JsonTree } from "../../../parts/runs/result/views/JsonTree.tsx";
import { useAnswerApproval } from "./queries.ts";

/** Shows an approval that the run waits for, with buttons to answer it. */
export function ApprovalCard({ workspace, approval }: { workspace: string; approval: Approval }) {
  const { step_id, summary, schema, refusal, required_events, approvers, hide_cancel, until } = approval;
  const id = useId().replace(/\W/g, "");
  const fields = useMemo(() => hasFields(prepareForm(schema)), [schema]);
  const [value, setValue] = useState<Record<string, unknown>>({});
  const [loaded, setLoaded] = useState(!fields);
  const ready = useCallback(() => setLoaded(true), []);
  const answer = useAnswerApproval(workspace, approval);
  const approve = () => answer.mutate({ approved: true, value });
  const missing = required_events - approvers.length;
  return (
    <Paper p="lg" component="section" aria-label={`Approval of ${summary || step_id}`} className="approval">
      <Title order={2}>Approve “{summary || step_id}”?</Title>
      <Text c="dimmed" mb="sm">
        The flow waits for {missing === 1 ? "an approval" : `${missing} approvals`}. It times out{" "}
        <Moment at={until} />.{approvers.length > 0 && ` Approved so far by ${approvers.join(", ")}.`}
      </Text>
      <Description value={approval.description} />
      {refusal ? (
        <Text mt="sm">You cannot approve: {refusal}.</Text>
      ) : (
        <Stack mt="sm">
          {fields && (
            <LazySchemaForm
              id={id}
              schema={schema}
              value={value}
              change={setValue}
              submit={approve}
              ready={ready}
            />
          )}
          {answer.error && <Problem error={answer.error} />}
          <Group>
            <Button
              leftSection={<IconCheck size={16} />}
              loading={answer.isPending && answer.variables.approved}
              disabled={!loaded || answer.isPending}
              onClick={() =>
                fields ? document.querySelector<HTMLFormElement>(`form#${id}`)?.requestSubmit() : approve()
              }
            >
              Approve
            </Button>
            {!hide_cancel && (
              <Button
                variant="default"
                leftSection={<IconX size={16} />}
                loading={answer.isPending && !answer.variables.approved}
                disabled={answer.isPending}
                onClick={() => answer.mutate({ approved: false, value: {} })}
              >
                Reject{" "}
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Paper>
  );
}

function Description({ value }: { value: unknown }) {
  if (value === undefined || value === null) return null;
  if (typeof value === "string")
    return (
      <Text className="wrap" style={{ whiteSpace: "pre-wrap" }}>
        {value}
      </Text>
    );
  if (typeof value === "object" && Object.keys(value).length === 0) return null;
  return <JsonTree value={value} />;
}
