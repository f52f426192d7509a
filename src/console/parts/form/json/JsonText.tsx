import { JsonInput } from "@mantine/core";
import { useState } from "react";
import { parseJson, writeJson } from "../../../api/json.ts";

export interface Common {
  id: string;
  label: string;
  description: string | undefined;
  required: boolean;
  error: string | undefined;
  value: unknown;
  change: (value: unknown) => void;
}

/** Field for a value as JSON text. */
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
