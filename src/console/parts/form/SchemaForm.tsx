/** Form generated from a JSON Schema. Loaded lazily because of its size. */
import Form from "@rjsf/mantine";
import type { RJSFValidationError } from "@rjsf/utils";
import { type Ref, useEffect, useImperativeHandle, useMemo, useRef } from "react";
import { VariableWidget } from "./pickers.tsx";
import { prepareForm } from "./prepare.ts";
import { ResourceField } from "./resources.tsx";
import { TEMPLATES } from "./templates.tsx";
import { validator } from "./validator.ts";
import { CheckboxWidget, FileWidget, JsonField, MomentWidget } from "./widgets.tsx";

const WIDGETS = { CheckboxWidget, FileWidget, MomentWidget, VariableWidget };
const FIELDS = { JsonField, ResourceField };

/** Shows errors of the values. @returns whether they are valid */
export type Validate = () => boolean;

interface Props {
  id: string;
  schema: unknown;
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
  submit: () => void;
  /** Called when the form has been rendered. */
  ready: () => void;
  /** Set by a surrounding form, which validates this one before it is submitted itself. */
  validate?: Ref<Validate>;
}

/** Focuses the field of a validation error. The library itself finds fields in form elements only. */
const focusOn = ({ property = "" }: RJSFValidationError) =>
  document.getElementById(`root${property.replaceAll(".", "_")}`)?.focus();

export default function SchemaForm({ id, schema, value, change, submit, ready, validate }: Props) {
  const form = useRef<{ validateForm: Validate }>(null);
  useImperativeHandle(validate, () => () => form.current?.validateForm() ?? true, []);
  const prepared = useMemo(() => prepareForm(schema), [schema]);
  // The form fills in defaults while it is made, when nothing else may change yet.
  const isMade = useRef(false);
  const filled = useRef<Props["value"]>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once
  useEffect(() => {
    isMade.current = true;
    if (filled.current) change(filled.current);
    ready();
  }, []);
  const tell = (values: Props["value"] = {}) => {
    if (isMade.current) change(values);
    else filled.current = values;
  };
  return (
    <Form
      ref={form as never}
      // Nested forms are invalid HTML.
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
      onChange={({ formData }) => tell(formData)}
      onSubmit={submit}
      // Fields show their errors; without a handler the library also logs them.
      onError={() => {}}
    />
  );
}
