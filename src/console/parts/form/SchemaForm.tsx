/** Form generated from a JSON Schema. Loaded lazily because of its size. */
import Form from "@rjsf/mantine";
import type { RJSFValidationError } from "@rjsf/utils";
import { type Ref, useEffect, useImperativeHandle, useMemo, useRef } from "react";
import { VariableWidget } from "./pickers.tsx";
import { prepare } from "./prepare.ts";
import { TEMPLATES } from "./templates.tsx";
import { validator } from "./validator.ts";
import { FileWidget, JsonField, MomentWidget } from "./widgets.tsx";

const WIDGETS = { FileWidget, MomentWidget, VariableWidget };
const FIELDS = { JsonField };

/** Shows what is wrong with the values. @returns whether nothing is */
export type Validate = () => boolean;

interface Props {
  id: string;
  schema: unknown;
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
  submit: () => void;
  /** Called when the form has been rendered. */
  ready: () => void;
  /** Given by a form that this one is a part of, and that validates before it is submitted itself. */
  validate?: Ref<Validate>;
}

/** The library itself finds fields in form elements alone. */
const focusOn = ({ property = "" }: RJSFValidationError) =>
  document.getElementById(`root${property.replaceAll(".", "_")}`)?.focus();

export default function SchemaForm({ id, schema, value, change, submit, ready, validate }: Props) {
  const form = useRef<{ validateForm: Validate }>(null);
  useImperativeHandle(validate, () => () => form.current?.validateForm() ?? true, []);
  const prepared = useMemo(() => prepare(schema), [schema]);
  useEffect(ready, [ready]);
  return (
    <Form
      ref={form as never}
      // A form within a form is no valid HTML.
      {...(validate ? { tagName: "div" } : {})}
      id={id}
      schema={prepared.schema}
      uiSchema={{
        ...prepared.ui,
        "ui:title": "",
        "ui:description": "",
        "ui:submitButtonOptions": { norender: true },
      }}
      formData={value}
      validator={validator}
      widgets={WIDGETS}
      fields={FIELDS}
      templates={TEMPLATES}
      showErrorList={false}
      focusOnFirstError={validate ? focusOn : true}
      noHtml5Validate
      experimental_defaultFormStateBehavior={{ emptyObjectFields: "skipEmptyDefaults" }}
      onChange={({ formData }) => change(formData ?? {})}
      onSubmit={submit}
      // Fields show their errors; without a handler they are also written to the browser's console.
      onError={() => {}}
    />
  );
}
