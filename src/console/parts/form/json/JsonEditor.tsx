import { JsonInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { isEqualJson, parseJson, writeJson } from "../../../api/json.ts";

interface Props {
  label: string;
  value: unknown;
  change: (value: unknown) => void;
  /** Called with whether the text is valid; invalid text changes nothing. */
  tellValid: (isValid: boolean) => void;
  /** Returns an error message for a value. */
  wrong?: (value: unknown) => string | undefined;
  /** Returns an error message for empty text; without it, empty text is an empty object. */
  wrongEmpty?: string;
  /** Whether empty text means no value. */
  mayBeNone?: boolean;
}

/** Editor for a value as JSON. A value changed elsewhere, such as by an undo, replaces the text. */
export function JsonEditor({ label, value, change, tellValid, wrong, wrongEmpty, mayBeNone = false }: Props) {
  const textOf = () => (mayBeNone && (value ?? null) === null ? "" : writeJson(value, 2));
  const [text, setText] = useState(textOf);
  const [problem, setProblem] = useState<string>();
  /** The last valid value of the text. */
  const written = useRef(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a value may be a new object each time, its text is not
  useEffect(() => {
    if (isEqualJson(value, written.current)) return;
    written.current = value;
    setText(textOf());
    setProblem(undefined);
  }, [writeJson(value)]);
  const isValid = problem === undefined;
  useEffect(() => {
    tellValid(isValid);
    // An unmounted editor blocks nothing.
    return () => tellValid(true);
  }, [tellValid, isValid]);
  const edit = (next: string) => {
    setText(next);
    if (next.trim() === "" && wrongEmpty !== undefined) return setProblem(wrongEmpty);
    try {
      const parsed = next.trim() !== "" ? parseJson(next) : mayBeNone ? undefined : {};
      const found = wrong?.(parsed);
      setProblem(found);
      if (found !== undefined) return;
      written.current = parsed;
      change(parsed);
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
