/** The workspace's script or flow that a step runs. */
import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import type { Fields } from "../../../../api/json.ts";
import { RunnableInput } from "../../../../parts/form/RunnableInput.tsx";
import { linkTo } from "../../../../parts/navigation/places.ts";
import { useEditorContext } from "../context.ts";
import { setStepField } from "../model/commands.ts";
import type { PlacedStep } from "../model/steps.ts";

export function PathPart({ placed }: { placed: PlacedStep }) {
  const { workspace, editor } = useEditorContext();
  const { type, path } = placed.step.value as Fields;
  const kind = type === "flow" ? "flow" : "script";
  return (
    <>
      <RunnableInput
        workspace={workspace}
        label="What it runs"
        value={typeof path === "string" && path !== "" ? { kind, path } : undefined}
        change={(next) => {
          if (!next) return;
          editor.edit("What it runs", (flow) => {
            const { hash: _version, ...value } = placed.step.value as Fields;
            const changed = { ...value, type: next.kind, path: next.path };
            return setStepField(flow, placed.key, ["value"], changed);
          });
        }}
      />
      {typeof path === "string" && path !== "" && (
        <Anchor
          component={Link}
          href={kind === "flow" ? linkTo.flow(workspace, path) : linkTo.script(workspace, path)}
          fz="sm"
        >
          Open it
        </Anchor>
      )}
    </>
  );
}
