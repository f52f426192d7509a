/** Panel of the flow itself: texts, inputs and options. Shown if no step is selected. */
import { Button, Modal, Textarea, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { getConsoleUrl } from "../../../../parts/calling/Address.tsx";
import { Captures } from "../../../../parts/form/Captures.tsx";
import { useEditorContext } from "../context.ts";
import { omitSteps } from "../model/difference.ts";
import { type FlowDocument, type Path, setValueAt } from "../model/document.ts";
import { addInputs } from "../model/schema-of.ts";
import { Options } from "../step/Options.tsx";
import { FLOW_OPTIONS, listShownFields } from "../step/option-fields.ts";
import { Rest } from "../step/Rest.tsx";
import { InputFields } from "./InputFields.tsx";

const STEPS = ["modules", "failure_module", "preprocessor_module"];

const SHOWN = listShownFields(
  FLOW_OPTIONS.map((section) => ({
    ...section,
    fields: section.fields
      .filter(({ path }) => path[0] === "value")
      .map((field) => ({ ...field, path: field.path.slice(1) })),
  })),
  STEPS,
);

export function FlowPanel() {
  const { workspace, editor } = useEditorContext();
  const [isCapturing, setCapturing] = useState(false);
  const { flow } = editor;
  const set = (path: Path, next: unknown, label: string) =>
    editor.edit(label, (before) => setValueAt(before, path, next), path.join("/"));
  return (
    <section className="stack" aria-label="Flow">
      <Title order={2}>Flow</Title>
      <TextInput
        label="Summary"
        value={typeof flow.summary === "string" ? flow.summary : ""}
        onChange={(event) => set(["summary"], event.currentTarget.value, "Summary")}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxRows={10}
        value={typeof flow.description === "string" ? flow.description : ""}
        onChange={(event) => set(["description"], event.currentTarget.value, "Description")}
      />
      <InputFields
        schema={isRecord(flow.schema) ? flow.schema : {}}
        change={(schema) => set(["schema"], schema, "Inputs")}
      />
      <Button variant="default" size="xs" w="fit-content" onClick={() => setCapturing(true)}>
        Inputs from a webhook
      </Button>
      <Modal opened={isCapturing} onClose={() => setCapturing(false)} title="Inputs from a webhook" size="lg">
        <Captures
          workspace={workspace}
          kind="flow"
          path={flow.path}
          base={getConsoleUrl()}
          take={(example) => {
            set(["schema"], addInputs(isRecord(flow.schema) ? flow.schema : {}, example), "Inputs");
            setCapturing(false);
          }}
        />
      </Modal>
      <Options
        of=""
        value={flow}
        sections={FLOW_OPTIONS}
        set={set}
        rest={
          <Rest
            value={omitSteps(flow).value as Record<string, unknown>}
            shown={SHOWN}
            change={(next) => editor.edit("Other fields", (before) => replaceSettings(before, next))}
          />
        }
      />
    </section>
  );
}

/** Replaces the fields of the flow's value other than its steps; fields keep their order. */
function replaceSettings(flow: FlowDocument, next: Fields): FlowDocument {
  const kept = Object.entries(flow.value).filter(
    ([name]) => STEPS.includes(name) || Object.hasOwn(next, name),
  );
  return { ...flow, value: { ...Object.fromEntries(kept), ...next } };
}
