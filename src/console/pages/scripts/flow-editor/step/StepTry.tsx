/** Runs a single step with the inputs that it would get in the earlier run. */
import { Button, Paper, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { callOperation } from "../../../../api/call.ts";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { Loading } from "../../../../parts/elements/Loading.tsx";
import { Problem } from "../../../../parts/elements/Problem.tsx";
import { JsonArguments } from "../../../../parts/form/json/JsonArguments.tsx";
import { LazySchemaForm } from "../../../../parts/form/LazySchemaForm.tsx";
import type { Language } from "../../../../parts/items/languages.ts";
import { RunOutcome } from "../../../../parts/runs/result/RunOutcome.tsx";
import { useEditorContext } from "../context.ts";
import type { PlacedStep } from "../model/steps.ts";
import { useExpressionScope } from "../values.ts";
import { PinButton } from "./StepResult.tsx";
import { useStepSchema } from "./step-schema.ts";

const FORM_ID = "step-arguments";
const nothing = () => {};

export function StepTry({ placed }: { placed: PlacedStep }) {
  const { workspace, editor, run } = useEditorContext();
  const schema = useStepSchema(placed);
  const value = placed.step.value as Fields;
  const given = useInputs(placed);
  const [typed, setTyped] = useState<Fields>();
  const args = typed ?? given.data ?? {};
  const begin = useMutation({ mutationFn: () => runStep(workspace, editor.flow.path, value, args) });
  const id = begin.data?.trim();
  const hasForm = isRecord(schema?.properties) && Object.keys(schema.properties).length > 0;
  if (given.isPending && run) return <Loading rows={2} />;
  return (
    <div className="stack">
      <Paper p="md">
        <Text fz="sm" c="dimmed" mb="sm">
          {run ? "Inputs computed from the run shown here." : "Run the flow once to fill in its values here."}
        </Text>
        {hasForm ? (
          <LazySchemaForm
            id={FORM_ID}
            schema={schema}
            value={args}
            change={setTyped}
            submit={() => begin.mutate()}
            ready={nothing}
          />
        ) : (
          <JsonArguments key={String(given.isPending)} value={args} change={setTyped} tellValid={nothing} />
        )}
        <Button
          mt="md"
          size="xs"
          leftSection={<IconPlayerPlay size={14} />}
          loading={begin.isPending}
          onClick={() => begin.mutate()}
        >
          Run this step
        </Button>
      </Paper>
      {begin.error && <Problem error={begin.error} />}
      {id && (
        <RunOutcome
          key={id}
          workspace={workspace}
          id={id}
          code={typeof value.content === "string" ? value.content : ""}
          path=""
        >
          {(result) => <PinButton placed={placed} result={result} />}
        </RunOutcome>
      )}
    </div>
  );
}

async function runStep(workspace: string, flowPath: string, value: Fields, args: Fields): Promise<string> {
  const path = String(value.path ?? "");
  if (value.type === "script" && typeof value.hash === "string" && value.hash !== "") {
    return callOperation("POST /w/{workspace}/jobs/run/h/{hash}", {
      workspace,
      hash: value.hash,
      body: args,
    });
  }
  if (value.type === "script") {
    return callOperation("POST /w/{workspace}/jobs/run/p/{path}", { workspace, path, body: args });
  }
  if (value.type === "flow") {
    return callOperation("POST /w/{workspace}/jobs/run/f/{path}", { workspace, path, body: args });
  }
  const body = {
    content: String(value.content ?? ""),
    language: value.language as Language,
    args,
    // Relative imports are resolved in the flow's folder.
    path: flowPath,
  };
  return callOperation("POST /w/{workspace}/jobs/run/preview", { workspace, body });
}

/** Returns the inputs of a step: fixed values, and expressions evaluated with the earlier run's values. */
function useInputs({ key, step }: PlacedStep) {
  const { workspace } = useEditorContext();
  const value = step.value as Fields;
  const transforms = isRecord(value.input_transforms) ? value.input_transforms : {};
  const all = useMemo(
    () =>
      Object.values(transforms)
        .map((each) => (isRecord(each) && typeof each.expr === "string" ? each.expr : ""))
        .join("\n"),
    [transforms],
  );
  const scope = useExpressionScope(key, all);
  return useQuery({
    queryKey: [workspace, "flows", "inputs", transforms, scope?.key],
    queryFn: async ({ signal }): Promise<Fields> => {
      const inputs: Fields = {};
      for (const [name, transform] of Object.entries(transforms)) {
        if (!isRecord(transform)) continue;
        if (transform.type !== "javascript") inputs[name] = transform.value;
        else if (scope) {
          const body = { expr: String(transform.expr), scope: scope.values };
          const answer = await callOperation(
            "POST /w/{workspace}/flows/expressions/evaluate",
            { workspace, body },
            signal,
          );
          if (answer.ok) inputs[name] = answer.value;
        }
      }
      return inputs;
    },
    gcTime: 10_000,
  });
}
