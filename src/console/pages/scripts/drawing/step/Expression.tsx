/** Editor for an expression, with completion, a check by the server, and its value in the earlier run. */
import { ActionIcon, Popover, ScrollArea, Text, UnstyledButton } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { isRecord, writeJson } from "../../../../api/json.ts";
import { Code } from "../../../../parts/editor/lazy.tsx";
import type { KnownName } from "../model/known.ts";
import { useEvaluated, useKnown, useScope } from "../values.ts";

const SHOWN_CHARACTERS = 160;
/** Maximum number of an object's fields that are offered in addition to the object. */
const SHOWN_FIELDS = 20;

interface Props {
  label: string;
  /** Key of the step. */
  of: string;
  value: string;
  change: (expression: string) => void;
}

export function Expression({ label, of, value, change }: Props) {
  const known = useKnown(of);
  const scope = useScope(of, value);
  const answer = useEvaluated(value, scope).data;
  const insert = useRef<(text: string) => void>(undefined);
  const offered = known.flatMap(withFields);
  const { error } = answer ?? {};
  return (
    <div className="expression">
      <div className="expression-line">
        <Code
          label={label}
          language="javascript"
          isShort
          value={value}
          change={change}
          problem={error?.line === undefined ? undefined : error}
          names={[...offered.map(({ expression, about }) => ({ text: expression, about })), ...HELPERS]}
          tellInsert={(given) => {
            insert.current = given;
          }}
        />
        <NamePicker label={label} names={offered} pick={(expression) => insert.current?.(expression)} />
      </div>
      <Text fz="xs" c={error ? "var(--bad)" : "dimmed"} className="wrap" role="status">
        {value.trim() === ""
          ? "Nothing yet: pick a name, or write an expression."
          : error
            ? error.message
            : scope && answer
              ? `= ${shorten(answer.value)}`
              : "Its value shows here after a run."}
      </Text>
    </div>
  );
}

const HELPERS = [
  { text: "variable('')", about: "A variable, by its path" },
  { text: "resource('')", about: "A resource, by its path" },
];

export function shorten(value: unknown): string {
  const text = value === undefined ? "undefined" : writeJson(value);
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** Returns a name and the fields of its value. */
function withFields(name: KnownName): KnownName[] {
  if (!name.hasValue || !isRecord(name.value)) return [name];
  const fields = Object.entries(name.value).slice(0, SHOWN_FIELDS);
  return [
    name,
    ...fields.map(([field, value]) => ({
      expression: /^[A-Za-z_$][\w$]*$/.test(field)
        ? `${name.expression}.${field}`
        : `${name.expression}[${JSON.stringify(field)}]`,
      about: name.about,
      value,
      hasValue: true,
    })),
  ];
}

interface PickerProps {
  label: string;
  names: KnownName[];
  pick: (expression: string) => void;
}

/** Lists the names that can be used here, with their values. */
export function NamePicker({ label, names, pick }: PickerProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={340} trapFocus>
      <Popover.Target>
        <ActionIcon
          variant="default"
          size={32}
          aria-label={`Pick a value for ${label}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <IconPlugConnected size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p="xs">
        <ScrollArea.Autosize mah="20rem" type="auto">
          {names.length === 0 && (
            <Text c="dimmed">No values are available here: the flow has no inputs and no earlier step.</Text>
          )}
          {names.map((name) => (
            <UnstyledButton
              key={name.expression}
              className="known-name"
              onClick={() => {
                pick(name.expression);
                setOpen(false);
              }}
            >
              <span className="mono">{name.expression}</span>
              <span className="quiet clip">{name.hasValue ? shorten(name.value) : name.about}</span>
            </UnstyledButton>
          ))}
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}
