/** Inputs of a step, by the schema of its script or flow. */
import { Button, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { useEditorContext } from "../context.ts";
import { setStepField } from "../model/commands.ts";
import type { PlacedStep } from "../model/steps.ts";
import { useStepSchema } from "./step-schema.ts";
import { Transform } from "./Transform.tsx";

export function Inputs({ placed }: { placed: PlacedStep }) {
  const { editor } = useEditorContext();
  const [name, setName] = useState("");
  const schema = useStepSchema(placed);
  const value = placed.step.value as Fields;
  const transforms = isRecord(value.input_transforms) ? value.input_transforms : {};
  const properties = isRecord(schema?.properties) ? schema.properties : {};
  const required: unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  const names = [...new Set([...Object.keys(properties), ...Object.keys(transforms)])];
  const set = (field: string, transform: Fields | undefined) =>
    editor.edit(
      `Input ${field}`,
      (flow) => setStepField(flow, placed.key, ["value", "input_transforms", field], transform),
      `${placed.key}/input/${field}`,
    );
  return (
    <div className="stack">
      {names.length === 0 && <Text c="dimmed">It takes no inputs.</Text>}
      {names.map((field) => (
        <div key={field}>
          <Transform
            name={field}
            of={placed.key}
            schema={Object.hasOwn(properties, field) ? properties[field] : undefined}
            isRequired={required.includes(field)}
            value={transforms[field]}
            change={(transform) => set(field, transform)}
          />
          {!Object.hasOwn(properties, field) && schema && (
            <Text fz="xs" c="dimmed">
              The step's script or flow does not declare it.{" "}
              <Button size="compact-xs" variant="subtle" onClick={() => set(field, undefined)}>
                Remove {field}
              </Button>
            </Text>
          )}
        </div>
      ))}
      <form
        className="line"
        onSubmit={(event) => {
          event.preventDefault();
          if (name && !names.includes(name)) set(name, { type: "static", value: null });
          setName("");
        }}
      >
        <TextInput
          size="xs"
          aria-label="Name of another input"
          placeholder="Another input"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
        <Button size="xs" variant="default" type="submit" disabled={name === ""}>
          Add
        </Button>
      </form>
    </div>
  );
}
