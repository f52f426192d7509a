/** Custom form fields: files, date-times, JSON. */
import { Checkbox, FileInput, TextInput } from "@mantine/core";
import type { FieldProps, WidgetProps } from "@rjsf/utils";
import { useState } from "react";
import { formatLocalInput } from "../elements/time.tsx";
import { JsonText } from "./json/JsonText.tsx";

/** File input that returns base64. */
export function FileWidget({
  id,
  label,
  required,
  disabled,
  onChange,
  value,
  schema,
  rawErrors,
}: WidgetProps) {
  const [file, setFile] = useState<File | null>(null);
  return (
    <FileInput
      id={id}
      label={label}
      required={Boolean(required)}
      disabled={Boolean(disabled)}
      description={schema.description}
      error={rawErrors?.join(", ")}
      placeholder={value ? "A file is chosen" : "Choose a file"}
      clearable
      clearButtonProps={{ "aria-label": "Remove the file" }}
      value={file}
      onChange={async (next) => {
        setFile(next);
        if (!next) return onChange(undefined);
        const address = await read(next);
        onChange(address.slice(address.indexOf(",") + 1));
      }}
    />
  );
}

function read(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

export function MomentWidget({
  id,
  label,
  required,
  disabled,
  onChange,
  value,
  schema,
  rawErrors,
}: WidgetProps) {
  return (
    <TextInput
      id={id}
      label={label}
      type="datetime-local"
      required={Boolean(required)}
      disabled={Boolean(disabled)}
      description={schema.description}
      error={rawErrors?.join(", ")}
      value={formatLocalInput(value)}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value === "" ? undefined : new Date(currentTarget.value).toISOString())
      }
    />
  );
}

/** Checkbox with its description below. */
export function CheckboxWidget({
  id,
  label,
  disabled,
  readonly,
  onChange,
  value,
  schema,
  rawErrors,
}: WidgetProps) {
  return (
    <Checkbox
      id={id}
      label={label}
      description={schema.description}
      disabled={Boolean(disabled || readonly)}
      error={rawErrors?.join(", ")}
      checked={value === true}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

/** Field for untyped values, as JSON text. */
export function JsonField(props: FieldProps) {
  const { fieldPathId, name, schema, formData, onChange, required, errorSchema } = props;
  return (
    <JsonText
      error={errorSchema?.__errors?.join(", ")}
      id={fieldPathId.$id}
      label={schema.title ?? name}
      description={schema.description}
      required={Boolean(required)}
      value={formData}
      change={(value) => onChange(value, fieldPathId.path)}
    />
  );
}
