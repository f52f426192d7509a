/** Result and log of the step in the run that is shown. */
import { Button, Text } from "@mantine/core";
import { IconPin } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Loading } from "../../../../parts/elements/Loading.tsx";
import { Problem } from "../../../../parts/elements/Problem.tsx";
import { ResultPanel } from "../../../../parts/runs/result/ResultPanel.tsx";
import { RunOutcome } from "../../../../parts/runs/result/RunOutcome.tsx";
import { type EarlierRun, useEditorContext } from "../context.ts";
import { setStepField } from "../model/commands.ts";
import type { PlacedStep } from "../model/steps.ts";
import { combinedResultQuery } from "../values.ts";

const hasResult = (run: EarlierRun, { id }: PlacedStep): boolean => run.jobs.has(id) || run.gathered.has(id);

export function StepResult({ placed }: { placed: PlacedStep }) {
  const { workspace, run } = useEditorContext();
  const job = run?.jobs.get(placed.id);
  const { content } = (placed.step.value ?? {}) as { content?: unknown };
  if (!run || !hasResult(run, placed)) {
    return (
      <Text c="dimmed">
        {run ? "The run shown here has no result of this step." : "Run the flow once to see its result here."}
      </Text>
    );
  }
  if (!job) return <Gathered run={run.id} placed={placed} />;
  return (
    <div className="stack">
      <RunOutcome
        key={job.id}
        workspace={workspace}
        id={job.id}
        code={typeof content === "string" ? content : ""}
        path=""
      >
        {(result) => <PinButton placed={placed} result={result} />}
      </RunOutcome>
    </div>
  );
}

/** Shows the combined result of all iterations or branches. */
function Gathered({ run, placed }: { run: string; placed: PlacedStep }) {
  const { workspace } = useEditorContext();
  const found = useQuery(combinedResultQuery(workspace, run, placed.id));
  if (found.error) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (found.isPending) return <Loading rows={2} />;
  return (
    <div className="stack">
      <Text fz="sm" c="dimmed">
        Of all iterations or branches together
      </Text>
      <ResultPanel title="Result" workspace={workspace} value={found.data} />
      <PinButton placed={placed} result={found.data} />
    </div>
  );
}

interface PinProps {
  placed: PlacedStep;
  result: unknown;
}

export function PinButton({ placed, result }: PinProps): ReactNode {
  const { editor } = useEditorContext();
  return (
    <Button
      size="xs"
      variant="default"
      w="fit-content"
      leftSection={<IconPin size={14} />}
      onClick={() =>
        editor.edit("Pin result", (flow) =>
          setStepField(flow, placed.key, ["mock"], { enabled: true, return_value: result }),
        )
      }
    >
      Pin as the step's result
    </Button>
  );
}
