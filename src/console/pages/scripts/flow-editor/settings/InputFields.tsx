/** Inputs of a flow: the properties of its JSON Schema. Unknown keywords of a property are kept. */
import { ActionIcon, Button, Checkbox, Select, TextInput, Title } from "@mantine/core";
import { IconArrowUp, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { setValueAt } from "../model/document.ts";

/** Choices of types, with their JSON Schema. */
const TYPES: { value: string; label: string; schema: Fields }[] = [
  { value: "string", label: "Text", schema: { type: "string" } },
  { value: "number", label: "Number", schema: { type: "number" } },
  { value: "integer", label: "Whole number", schema: { type: "integer" } },
  { value: "boolean", label: "Yes or no", schema: { type: "boolean" } },
  { value: "array", label: "List", schema: { type: "array", items: {} } },
  { value: "object", label: "Object", schema: { type: "object" } },
  { value: "email", label: "E-mail", schema: { type: "string", format: "email" } },
  { value: "date-time", label: "Date and time", schema: { type: "string", format: "date-time" } },
  { value: "file", label: "File", schema: { type: "string", contentEncoding: "base64" } },
];

const typeOf = ({ type, format, contentEncoding }: Fields): string | null => {
  const found = TYPES.find(
    ({ schema }) =>
      schema.type === type && schema.format === format && schema.contentEncoding === contentEncoding,
  );
  return found?.value ?? null;
};

interface Props {
  schema: Fields;
  change: (schema: Fields) => void;
}

export function InputFields({ schema, change }: Props) {
  const [name, setName] = useState("");
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  const order = Array.isArray(schema.order) ? (schema.order as string[]) : undefined;
  const names = [
    ...new Set([...(order ?? []).filter((each) => each in properties), ...Object.keys(properties)]),
  ];
  const base: Fields = Object.keys(schema).length > 0 ? schema : { type: "object" };
  const write = (next: Fields, nextRequired: unknown[], nextNames: string[]) =>
    change({
      ...base,
      properties: Object.fromEntries(nextNames.map((each) => [each, next[each]])),
      required: nextRequired,
      ...(order ? { order: nextNames } : {}),
    });
  const set = (field: string, next: Fields) => write({ ...properties, [field]: next }, required, names);
  return (
    <section className="stack" aria-label="Inputs">
      <Title order={3}>Inputs</Title>
      {names.map((field, index) => {
        const property: Fields = isRecord(properties[field]) ? properties[field] : {};
        return (
          <div key={field} className="transform" role="group" aria-label={field}>
            <div className="transform-head">
              <span className="mono">{field}</span>
              <Select
                size="xs"
                w={140}
                aria-label={`Type of ${field}`}
                placeholder="Another"
                allowDeselect={false}
                data={TYPES.map(({ value, label }) => ({ value, label }))}
                value={typeOf(property)}
                onChange={(value) => {
                  const { type: _t, format: _f, contentEncoding: _c, items: _i, ...rest } = property;
                  set(field, { ...TYPES.find((each) => each.value === value)!.schema, ...rest });
                }}
              />
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={`Move ${field} up`}
                disabled={index === 0}
                onClick={() => {
                  const next = [...names];
                  [next[index - 1], next[index]] = [next[index]!, next[index - 1]!];
                  write(properties, required, next);
                }}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="red"
                aria-label={`Delete the input ${field}`}
                onClick={() =>
                  write(
                    properties,
                    required.filter((each) => each !== field),
                    names.filter((each) => each !== field),
                  )
                }
              >
                <IconTrash size={16} />
              </ActionIcon>
            </div>
            <TextInput
              size="xs"
              aria-label={`Description of ${field}`}
              placeholder="What it is for"
              value={typeof property.description === "string" ? property.description : ""}
              onChange={(event) =>
                set(field, setValueAt(property, ["description"], event.currentTarget.value || undefined))
              }
            />
            <Checkbox
              size="xs"
              label="Required"
              checked={required.includes(field)}
              onChange={(event) =>
                write(
                  properties,
                  event.currentTarget.checked
                    ? [...required, field]
                    : required.filter((each) => each !== field),
                  names,
                )
              }
            />
          </div>
        );
      })}
      <form
        className="line"
        onSubmit={(event) => {
          event.preventDefault();
          if (name === "" || names.includes(name)) return;
          write({ ...properties, [name]: { type: "string" } }, required, [...names, name]);
          setName("");
        }}
      >
        <TextInput
          size="xs"
          aria-label="Name of a new input"
          placeholder="New input"
          value={name}
          onChange={(event) => setName(event.currentTarget.value.trim())}
        />
        <Button size="xs" variant="default" type="submit" disabled={name === "" || names.includes(name)}>
          Add the input
        </Button>
      </form>
    </section>
  );
}
