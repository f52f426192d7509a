/** Options in sections, with one field each. */
import { Accordion, NumberInput, Switch, Text, Textarea, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { getAt, isRecord } from "../../../../api/json.ts";
import { JsonEditor } from "../../../../parts/form/json/JsonEditor.tsx";
import type { Path } from "../model/document.ts";
import { Expression } from "./Expression.tsx";
import type { OptionField, OptionSection } from "./option-fields.ts";
import { Transform } from "./Transform.tsx";

interface Props {
  /** Key of the step; empty for the flow itself. */
  of: string;
  /** The step or the flow. */
  value: unknown;
  sections: OptionSection[];
  /** Undefined removes the field. */
  set: (path: Path, next: unknown, label: string) => void;
  /** Fields that are in no section. */
  rest: ReactNode;
}

export function Options({ of, value, sections, set, rest }: Props) {
  const isSet = ({ root, fields }: OptionSection) =>
    root ? hasAt(value, root) : fields.some((field) => isGiven(value, field));
  return (
    <Accordion multiple defaultValue={sections.filter(isSet).map(({ title }) => title)} variant="default">
      {sections.map((section) => (
        <Accordion.Item key={section.title} value={section.title}>
          <Accordion.Control>
            {section.title}
            {isSet(section) && <span className="quiet"> · set</span>}
          </Accordion.Control>
          <Accordion.Panel>
            <div className="stack">
              {section.root && (
                <Switch
                  label={section.about}
                  checked={isSet(section)}
                  onChange={(event) => {
                    const { checked } = event.currentTarget;
                    if (checked) set(section.root!, section.initial, section.title);
                    else set(prunedPath(value, section.root!), undefined, section.title);
                  }}
                />
              )}
              {(!section.root || isSet(section)) &&
                section.fields.map((field) => (
                  <Field
                    key={field.path.join(".")}
                    of={of}
                    field={field}
                    value={getAt(value, field.path)}
                    change={(next) => set(field.path, next, field.label)}
                  />
                ))}
            </div>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
      <Accordion.Item value="rest">
        <Accordion.Control>Other fields</Accordion.Control>
        <Accordion.Panel>{rest}</Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

const hasAt = (value: unknown, path: Path): boolean => (getAt(value, path) ?? undefined) !== undefined;

/** Whether the field differs from its default: some clients store switches that are off, and empty locks. */
const isGiven = (value: unknown, { kind, path }: OptionField): boolean =>
  kind === "switch" ? getAt(value, path) === true : hasAt(value, path) && getAt(value, path) !== "";

/** Returns the outermost object that would be empty without the field. */
function prunedPath(value: unknown, path: Path): Path {
  const parent = path.slice(0, -1);
  const fields = getAt(value, parent);
  return parent.length > 0 && isRecord(fields) && Object.keys(fields).length === 1
    ? prunedPath(value, parent)
    : path;
}

interface FieldProps {
  of: string;
  field: OptionField;
  value: unknown;
  change: (value: unknown) => void;
}

const nothing = () => {};

/** An editor, which has no label of its own that is shown. */
function Labeled({ label, about, children }: Pick<OptionField, "label" | "about"> & { children: ReactNode }) {
  return (
    <div>
      <Text fz="sm" fw={500}>
        {label}
      </Text>
      {about && (
        <Text fz="xs" c="dimmed">
          {about}
        </Text>
      )}
      {children}
    </div>
  );
}

function Field({ of, field: { label, about, kind, path }, value, change }: FieldProps) {
  const text = typeof value === "string" ? value : "";
  switch (kind) {
    case "switch":
      return (
        <Switch
          label={label}
          description={about}
          checked={value === true}
          onChange={(event) => change(event.currentTarget.checked ? true : undefined)}
        />
      );
    case "number":
      return (
        <NumberInput
          label={label}
          description={about}
          min={0}
          value={typeof value === "number" ? value : ""}
          onChange={(next) => {
            // A lone sign, or too many digits, is incomplete input.
            if (next === "") change(undefined);
            else if (typeof next === "number" && Number.isFinite(next)) change(next);
          }}
        />
      );
    case "text":
      return (
        <TextInput
          label={label}
          description={about}
          value={text}
          onChange={(event) => change(event.currentTarget.value || undefined)}
        />
      );
    case "lines":
      return (
        <Textarea
          label={label}
          description={about}
          autosize
          maxRows={8}
          value={text}
          onChange={(event) => change(event.currentTarget.value || undefined)}
        />
      );
    case "expression":
      return (
        <Labeled label={label} about={about}>
          <Expression label={label} of={of} value={text} change={(next) => change(next || undefined)} />
        </Labeled>
      );
    case "transform":
      return (
        <Transform
          name={label}
          of={of}
          schema={{ type: path.at(-1) === "user_groups_required" ? undefined : "number", description: about }}
          isRequired={false}
          value={isRecord(value) ? value : { type: "static", value }}
          change={change}
        />
      );
    case "json":
      return (
        <Labeled label={label} about={about}>
          <JsonEditor label={label} value={value ?? null} mayBeNone change={change} tellValid={nothing} />
        </Labeled>
      );
  }
}
