/** Editor for an expression, with completion, a check by the server, and its value in the earlier run. */
import { Text } from "@mantine/core";
import { useMemo, useRef } from "react";
import { Code } from "../../../../parts/editor/lazy.tsx";
import { formatOneLine, listFields } from "../model/known.ts";
import { useEvaluatedExpression, useExpressionScope, useKnownNames } from "../values.ts";
import { NamePicker } from "./NamePicker.tsx";

/** Maximum number of names offered by completion; the picker lists all. */
const MAX_COMPLETIONS = 500;

interface Props {
  label: string;
  /** Key of the step. */
  of: string;
  value: string;
  change: (expression: string) => void;
}

export function Expression({ label, of, value, change }: Props) {
  const known = useKnownNames(of);
  const scope = useExpressionScope(of, value);
  const answer = useEvaluatedExpression(value, scope).data;
  const insert = useRef<(text: string) => void>(undefined);
  const names = useMemo(
    () => [
      ...known
        .flatMap((name) => [name, ...listFields(name, 3)])
        .slice(0, MAX_COMPLETIONS)
        .map(({ expression, about }) => ({ text: expression, about })),
      ...HELPERS,
    ],
    [known],
  );
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
          names={names}
          tellInsert={(given) => {
            insert.current = given;
          }}
        />
        <NamePicker label={label} names={known} pick={(expression) => insert.current?.(expression)} />
      </div>
      <Text fz="xs" c={error ? "var(--bad)" : "dimmed"} className="wrap" role="status">
        {value.trim() === ""
          ? "Nothing yet: pick a name, or write an expression."
          : error
            ? error.message
            : scope && answer
              ? `= ${formatOneLine(answer.value)}`
              : "Its value shows here after a run."}
      </Text>
    </div>
  );
}

const HELPERS = [
  { text: "variable('')", about: "A variable, by its path" },
  { text: "resource('')", about: "A resource, by its path" },
];
