/** Components of an app for user input. Their value is their result. */

import {
  MultiSelect,
  NumberInput,
  PasswordInput,
  Select,
  Slider,
  Switch,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useEffect } from "react";
import { isRecord } from "../../../api/json.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { LazySchemaForm } from "../../../parts/form/LazySchemaForm.tsx";
import { computeInput, NotEvaluated } from "./evaluate.ts";
import type { AppComponent } from "./read-app.ts";
import { useApp } from "./use-app.ts";

const nothing = () => {};

/** Kinds of components for user input. */
export const CONTROLS: ReadonlySet<string> = new Set(
  "textinput textareainput quillcomponent passwordinput emailinput numberinput currency slider select resourceselect multiselect checkbox toggle dateinput timeinput datetimeinput fileinput schemaform".split(
    " ",
  ),
);

export function Control({ component }: { component: AppComponent }) {
  const { scope, outputs, set } = useApp();
  const { id, kind, configuration } = component;
  const option = (name: string): unknown => {
    try {
      return computeInput(configuration[name], scope);
    } catch (error) {
      if (error instanceof NotEvaluated) return undefined;
      throw error;
    }
  };
  const initial = option("defaultValue");
  const value = outputs[id] && "result" in outputs[id] ? outputs[id].result : initial;
  const begins = JSON.stringify(initial);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the value it begins with is a new object each time
  useEffect(() => {
    if (initial !== undefined) set(id, { result: initial });
  }, [begins, id, set]);
  const change = (result: unknown) => set(id, { result });
  const label = String(option("label") || option("placeholder") || id);
  const disabled = option("disabled") === true;
  const shared = { "aria-label": label, disabled };
  const text = typeof value === "string" ? value : "";
  switch (kind) {
    case "numberinput":
    case "currency":
      return (
        <NumberInput
          {...shared}
          placeholder={String(option("placeholder") ?? "")}
          value={typeof value === "number" ? value : ""}
          onChange={(next) => change(next === "" ? undefined : Number(next))}
        />
      );
    case "slider":
      return (
        <Slider
          thumbLabel={label}
          disabled={disabled}
          min={Number(option("min") ?? 0)}
          max={Number(option("max") ?? 100)}
          step={Number(option("step") ?? 1)}
          value={Number(value ?? 0)}
          onChange={change}
        />
      );
    case "select":
    case "resourceselect":
    case "multiselect":
      return (
        <Choice
          {...shared}
          items={option("items")}
          isMany={kind === "multiselect"}
          value={value}
          change={change}
        />
      );
    case "checkbox":
    case "toggle":
      return (
        <Switch
          label={label}
          disabled={disabled}
          checked={value === true}
          onChange={(event) => change(event.currentTarget.checked)}
        />
      );
    case "textareainput":
      return (
        <Textarea
          {...shared}
          autosize
          minRows={3}
          maxRows={15}
          value={text}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
    case "passwordinput":
      return (
        <PasswordInput {...shared} value={text} onChange={(event) => change(event.currentTarget.value)} />
      );
    case "fileinput":
      return <FileChoice label={label} disabled={disabled} change={change} />;
    case "schemaform":
      return <FormOf component={component} />;
    default:
      return (
        <TextInput
          {...shared}
          type={INPUT_TYPES[kind] ?? "text"}
          placeholder={String(option("placeholder") ?? "")}
          value={text}
          onChange={(event) => change(event.currentTarget.value)}
        />
      );
  }
}

const INPUT_TYPES: Record<string, string> = {
  emailinput: "email",
  dateinput: "date",
  timeinput: "time",
  datetimeinput: "datetime-local",
};

interface ChoiceProps {
  "aria-label": string;
  disabled: boolean;
  items: unknown;
  isMany: boolean;
  value: unknown;
  change: (value: unknown) => void;
}

/** Items are texts, or objects with a label and any value. */
function Choice({ items, isMany, value, change, ...shared }: ChoiceProps) {
  const options = (Array.isArray(items) ? items : []).map((item) =>
    isRecord(item)
      ? { label: String(item.label ?? item.value), value: item.value }
      : { label: String(item), value: item },
  );
  const data = options.map(({ label }, index) => ({ label, value: String(index) }));
  const indexOf = (each: unknown) =>
    options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(each));
  const common = { ...shared, searchable: true, data };
  if (isMany) {
    const chosen = (Array.isArray(value) ? value : []).map(indexOf).filter((index) => index >= 0);
    return (
      <MultiSelect
        {...common}
        value={chosen.map(String)}
        onChange={(next) => change(next.map((index) => options[Number(index)]!.value))}
      />
    );
  }
  const index = indexOf(value);
  return (
    <Select
      {...common}
      clearable
      value={index < 0 ? null : String(index)}
      onChange={(next) => change(next === null ? undefined : options[Number(next)]!.value)}
    />
  );
}

interface FileProps {
  label: string;
  disabled: boolean;
  change: (value: unknown) => void;
}

/** Files are passed as `{ name, data }`, with the data in base64. */
function FileChoice({ label, disabled, change }: FileProps) {
  const read = async (files: FileList | null) => {
    const all = [...(files ?? [])].map(async (file) => {
      const bytes = new Uint8Array(await file.arrayBuffer());
      let binary = "";
      for (let at = 0; at < bytes.length; at += 8_192)
        binary += String.fromCharCode(...bytes.subarray(at, at + 8_192));
      return { name: file.name, data: btoa(binary) };
    });
    change(await Promise.all(all));
  };
  return (
    <input
      type="file"
      multiple
      aria-label={label}
      disabled={disabled}
      onChange={(event) => void read(event.currentTarget.files)}
    />
  );
}

/** A form whose schema is in the app, or is the result of a script. Expressions can refer to its values. */
function FormOf({ component: { id, input } }: { component: AppComponent }) {
  const { scope, outputs, set } = useApp();
  const computed = outputs[id]?.result;
  const schema = isRecord(input) && input.type === "runnable" ? computed : computeInput(input, scope);
  const values = outputs[id]?.values;
  if (!isRecord(schema)) return outputs[id]?.loading ? <Loading rows={2} /> : null;
  return (
    <LazySchemaForm
      id={`app-${id}`}
      schema={schema}
      value={isRecord(values) ? values : {}}
      change={(next) => set(id, { values: next })}
      submit={nothing}
      ready={nothing}
    />
  );
}
