/** Runs the edited flow: all of it, up to a step, or from a step on. */
import { Anchor, Button, Group, Modal, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { callOperation } from "../../../../api/call.ts";
import type { Job } from "../../../../api/interface.d.ts";
import type { Fields } from "../../../../api/json.ts";
import { Problem } from "../../../../parts/elements/Problem.tsx";
import { JsonArguments } from "../../../../parts/form/json/JsonArguments.tsx";
import { LazySchemaForm } from "../../../../parts/form/LazySchemaForm.tsx";
import { hasFields, prepareForm } from "../../../../parts/form/prepare.ts";
import { linkTo } from "../../../../parts/navigation/places.ts";
import { State } from "../../../../parts/runs/run-state.tsx";
import type { FlowDocument } from "../model/document.ts";
import { truncateFlowAfter } from "../model/partial.ts";
import type { PlacedStep } from "../model/steps.ts";

const FORM_ID = "flow-arguments";
const nothing = () => {};

interface Props {
  workspace: string;
  flow: FlowDocument;
  /** The selected step. */
  placed: PlacedStep | undefined;
  /** Initial arguments. */
  input: Fields | undefined;
  /** The run that a new one can continue from. */
  earlier: Job | undefined;
  /** Called with the started run. */
  started: (id: string) => void;
  close: () => void;
}

export function TryFlow({ workspace, flow, placed, input, earlier, started, close }: Props) {
  const [args, setArgs] = useState<Fields>(input ?? {});
  const fields = useMemo(() => hasFields(prepareForm(flow.schema)), [flow.schema]);
  const begin = useMutation({
    mutationFn: ({ value, from }: { value: FlowDocument; from?: string | undefined }) => {
      const again = from && earlier ? { restarted_from: { flow_job_id: earlier.id, step_id: from } } : {};
      const body = { value: value.value as { modules: unknown[] }, args, path: flow.path, ...again };
      return callOperation("POST /w/{workspace}/jobs/run/preview_flow", { workspace, body });
    },
    onSuccess: (id) => {
      started(id.trim());
      close();
    },
  });
  const isOutermost =
    placed !== undefined && placed.around.length === 0 && typeof placed.path.at(-1) === "number";
  const mayRestart = isOutermost && earlier?.type === "CompletedJob" && earlier.job_kind !== "script";
  const name = placed?.step.summary || placed?.id;
  return (
    <Modal opened onClose={close} title="Run the edited flow" size="lg">
      {fields ? (
        <LazySchemaForm
          id={FORM_ID}
          schema={flow.schema}
          value={args}
          change={setArgs}
          submit={() => begin.mutate({ value: flow })}
          ready={nothing}
        />
      ) : (
        <>
          <Text c="dimmed" mb="xs">
            The flow declares no inputs. The values that you enter here are available as flow_input.
          </Text>
          <JsonArguments value={args} change={setArgs} tellValid={nothing} />
        </>
      )}
      {begin.error && <Problem error={begin.error} />}
      <Group mt="md" gap="xs">
        <Button
          data-autofocus
          leftSection={<IconPlayerPlay size={16} />}
          loading={begin.isPending}
          onClick={() => begin.mutate({ value: flow })}
        >
          Run
        </Button>
        {placed && typeof placed.path.at(-1) === "number" && (
          <Button
            variant="default"
            onClick={() => begin.mutate({ value: truncateFlowAfter(flow, placed.key) })}
          >
            Run up to {String(name)}
          </Button>
        )}
        {mayRestart && (
          <Button variant="default" onClick={() => begin.mutate({ value: flow, from: placed.id })}>
            Run again from {String(name)}
          </Button>
        )}
      </Group>
    </Modal>
  );
}

/** The run that is shown in the editor. */
export function ShownRun({ workspace, job, hide }: { workspace: string; job: Job; hide: () => void }) {
  return (
    <div className="line flow-editor-run" role="status">
      <State job={job} />
      <Anchor component={Link} href={linkTo.run(workspace, job.id)} fz="sm">
        {job.type === "QueuedJob" ? "Follow the run" : "Open the run"}
      </Anchor>
      <Button size="compact-xs" variant="subtle" onClick={hide}>
        Hide
      </Button>
    </div>
  );
}
