import { JsonInput } from "@mantine/core";
import { useState } from "react";
import { parseJson, writeJson } from "../../api/json.ts";

interface Props {
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
}

/** Editor for all arguments as JSON. */
export function JsonArguments({ value, change }: Props) {
  const [text, setText] = useState(() => writeJson(value, 2));
  const [problem, setProblem] = useState<string>();
  return (
    <JsonInput
      aria-label="Arguments as JSON"
      autosize
      minRows={8}
      maxRows={30}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      value={text}
      error={problem}
      onChange={(next) => {
        setText(next);
        try {
          const parsed = next.trim() === "" ? {} : parseJson(next);
          if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
            setProblem("Arguments are an object: a name and a value for each.");
          } else {
            change(parsed as Record<string, unknown>);
            setProblem(undefined);
          }
        } catch (error) {
          setProblem((error as Error).message);
        }
      }}
    />
  );
}
