/** An input: a fixed value, or an expression. */
import { SegmentedControl, Text } from "@mantine/core";
import { useMemo } from "react";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { LazySchemaForm } from "../../../../parts/form/LazySchemaForm.tsx";
import { useKnownNames } from "../values.ts";
import { Expression } from "./Expression.tsx";
import { NamePicker } from "./NamePicker.tsx";

const nothing = () => {};

interface Props {
  name: string;
  /** Key of the step. */
  of: string;
  schema: unknown;
  isRequired: boolean;
  value: unknown;
  change: (transform: Fields) => void;
}

export function Transform({ name, of, schema, isRequired, value, change }: Props) {
  const transform = isRecord(value) ? value : {};
  const isExpression = transform.type === "javascript";
  const known = useKnownNames(of);
  const about = isRecord(schema) && typeof schema.description === "string" ? schema.description : "";
  return (
    <div className="transform" role="group" aria-label={name}>
      <div className="transform-head">
        <span className="mono">
          {name}
          {isRequired && <span className="quiet"> required</span>}
        </span>
        <SegmentedControl
          size="xs"
          aria-label={`How ${name} is given`}
          value={isExpression ? "javascript" : "static"}
          onChange={(type) =>
            change(
              type === "javascript"
                ? { type, expr: typeof transform.expr === "string" ? transform.expr : "" }
                : { type, value: transform.value },
            )
          }
          data={[
            { value: "static", label: "Value" },
            { value: "javascript", label: "Expression" },
          ]}
        />
        {!isExpression && (
          <NamePicker label={name} names={known} pick={(expr) => change({ type: "javascript", expr })} />
        )}
      </div>
      {isExpression ? (
        <Expression
          label={`Expression of ${name}`}
          of={of}
          value={typeof transform.expr === "string" ? transform.expr : ""}
          change={(expr) => change({ ...transform, type: "javascript", expr })}
        />
      ) : (
        <StaticValue
          id={`static-${of}-${name}`}
          name={name}
          schema={schema}
          value={transform.value}
          change={(next) => change({ ...transform, type: "static", value: next })}
        />
      )}
      {about && isExpression && (
        <Text fz="xs" c="dimmed">
          {about}
        </Text>
      )}
    </div>
  );
}

interface StaticProps {
  id: string;
  name: string;
  schema: unknown;
  value: unknown;
  change: (value: unknown) => void;
}

function StaticValue({ id, name, schema, value, change }: StaticProps) {
  const form = useMemo(
    () => ({ type: "object", properties: { [name]: isRecord(schema) ? schema : {} } }),
    [name, schema],
  );
  const given = useMemo(() => (value === undefined ? {} : { [name]: value }), [name, value]);
  return (
    <LazySchemaForm
      id={id}
      schema={form}
      value={given}
      change={(next) => change(next[name])}
      submit={nothing}
      ready={nothing}
    />
  );
}
