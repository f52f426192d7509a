import { isRecord } from "../../../api/json.ts";
import { JsonEditor } from "./JsonEditor.tsx";

interface Props {
  value: Record<string, unknown>;
  change: (value: Record<string, unknown>) => void;
  /** Called with whether the text is valid; invalid text changes nothing. */
  tellValid: (isValid: boolean) => void;
}

const wrong = (value: unknown) =>
  isRecord(value) ? undefined : "Arguments are an object: a name and a value for each.";

/** Editor for all arguments as JSON. */
export function JsonArguments({ value, change, tellValid }: Props) {
  return (
    <JsonEditor
      label="Arguments as JSON"
      value={value}
      change={(next) => change(next as Record<string, unknown>)}
      tellValid={tellValid}
      wrong={wrong}
    />
  );
}
