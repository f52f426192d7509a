import { JsonInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { parseJson, writeJson } from "../../api/json.ts";

interface Props {
  label: string;
  value: unknown;
  change: (value: unknown) => void;
  /** Told whether the text is a value; one that is not changes nothing. */
  tellValid: (isValid: boolean) => void;
  /** Says what is wrong with a value. */
  wrong?: (value: unknown) => string | undefined;
}

/** Editor for a value as JSON. Empty text is an empty object. */
export function JsonEditor({ label, value, change, tellValid, wrong }: Props) {
  const [text, setText] = useState(() => writeJson(value, 2));
  const [problem, setProblem] = useState<string>();
  const isValid = problem === undefined;
  useEffect(() => {
    tellValid(isValid);
    // What is no longer shown holds nothing up.
    return () => tellValid(true);
  }, [tellValid, isValid]);
  const edit = (next: string) => {
    setText(next);
    try {
      const parsed = next.trim() === "" ? {} : parseJson(next);
      const found = wrong?.(parsed);
      setProblem(found);
      if (found === undefined) change(parsed);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <JsonInput
      aria-label={label}
      autosize
      minRows={8}
      maxRows={30}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      value={text}
      error={problem}
      onChange={edit}
    />
  );
}
