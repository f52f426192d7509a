/** Custom form fields: files, date-times, resources, JSON. */
import { Autocomplete, FileInput, JsonInput, TextInput } from "@mantine/core";
import type { FieldProps, WidgetProps } from "@rjsf/utils";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { parseJson, writeJson } from "../../api/json.ts";
import { useWorkspace } from "../places.ts";

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

const pad = (number: number) => String(number).padStart(2, "0");

/** Formats a date-time for `datetime-local` in the browser's time zone. */
function localOf(moment: unknown): string {
  const date = new Date(String(moment ?? ""));
  if (Number.isNaN(date.getTime())) return "";
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return `${day}T${pad(date.getHours())}:${pad(date.getMinutes())}`;
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
      value={localOf(value)}
      onChange={({ currentTarget }) =>
        onChange(currentTarget.value === "" ? undefined : new Date(currentTarget.value).toISOString())
      }
    />
  );
}

/** Field for untyped values (JSON text) and resource references. */
export function JsonField(props: FieldProps) {
  const { fieldPathId, name, schema, formData, onChange, required, uiSchema, errorSchema } = props;
  const format = String(uiSchema?.["ui:options"]?.format ?? "");
  const common = {
    error: errorSchema?.__errors?.join(", "),
    id: fieldPathId.$id,
    label: schema.title ?? name,
    description: schema.description,
    required: Boolean(required),
  };
  const change = (value: unknown) => onChange(value, fieldPathId.path);
  if (format.startsWith("resource-")) {
    return (
      <ResourceField {...common} type={format.slice("resource-".length)} value={formData} change={change} />
    );
  }
  return <JsonText {...common} value={formData} change={change} />;
}

interface Common {
  id: string;
  label: string;
  description: string | undefined;
  required: boolean;
  error: string | undefined;
  value: unknown;
  change: (value: unknown) => void;
}

export function JsonText({ value, change, error, ...common }: Common) {
  const [text, setText] = useState(value === undefined ? "" : writeJson(value, 2));
  const [wrong, setWrong] = useState(false);
  return (
    <JsonInput
      {...common}
      autosize
      minRows={2}
      maxRows={16}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      placeholder="JSON"
      value={text}
      error={wrong ? "This is not valid JSON." : error}
      onChange={(next) => {
        setText(next);
        try {
          change(next.trim() === "" ? undefined : parseJson(next));
          setWrong(false);
        } catch {
          setWrong(true);
        }
      }}
    />
  );
}

const RESOURCE_PREFIX = "$res:";

function ResourceField({ type, value, change, ...common }: Common & { type: string }) {
  const workspace = useWorkspace();
  const resources = useQuery({
    queryKey: [workspace, "resources", "list", type],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/resources/list", { workspace, query: { resource_type: type } }, signal),
  }).data;
  if (typeof value === "object" && value !== null)
    return <JsonText {...common} value={value} change={change} />;
  const text = typeof value === "string" ? value.replace(RESOURCE_PREFIX, "") : "";
  return (
    <Autocomplete
      {...common}
      placeholder={`Path of a resource of type ${type}`}
      data={(resources ?? []).map(({ path }) => path)}
      value={text}
      onChange={(path) => change(path === "" ? undefined : RESOURCE_PREFIX + path)}
    />
  );
}
