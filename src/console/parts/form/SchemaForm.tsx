/** Form generated from a JSON Schema. Loaded lazily because of its size. */
import Form from "@rjsf/mantine";
import { useEffect, useMemo } from "react";
import { prepare } from "./prepare.ts";
import { TEMPLATES } from "./templates.tsx";
import { validator } from "./validator.ts";
import { FileWidget, JsonField, MomentWidget } from "./widgets.tsx";

const WIDGETS = { FileWidget, MomentWidget };
const FIELDS = { JsonField };

interface Props {
  id: string;
  schema: unknown;
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
  submit: () => void;
  /** Called when the form has been rendered. */
  ready: () => void;
}

export default function SchemaForm({ id, schema, value, change, submit, ready }: Props) {
  const prepared = useMemo(() => prepare(schema), [schema]);
  useEffect(ready, [ready]);
  return (
    <Form
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
      focusOnFirstError
      noHtml5Validate
      experimental_defaultFormStateBehavior={{ emptyObjectFields: "skipEmptyDefaults" }}
      onChange={({ formData }) => change(formData ?? {})}
      onSubmit={submit}
      // Fields show their errors; without a handler they are also written to the browser's console.
      onError={() => {}}
    />
  );
}
