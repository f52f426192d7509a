/** JSON editor for fields without a form field, so that every field can be edited here. */
import { Text } from "@mantine/core";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { JsonEditor } from "../../../../parts/form/json/JsonEditor.tsx";
import { findShownField, readUnshownFields, replaceUnshownFields } from "../model/rest.ts";

interface Props {
  value: Fields;
  /** Paths of fields that are shown elsewhere, such as `retry.constant.attempts`. */
  shown: ReadonlySet<string>;
  change: (next: Fields) => void;
}

const nothing = () => {};

export function Rest({ value, shown, change }: Props) {
  return (
    <div>
      <Text fz="xs" c="dimmed" mb={4}>
        Fields that have no input of their own, as JSON.
      </Text>
      <JsonEditor
        label="Other fields"
        value={readUnshownFields(value, shown)}
        change={(next) => isRecord(next) && change(replaceUnshownFields(value, shown, next))}
        wrong={(next) => {
          if (!isRecord(next)) return "Enter a JSON object with a name and a value for each field.";
          const elsewhere = findShownField(next, shown);
          return elsewhere && `${elsewhere} has an input of its own.`;
        }}
        wrongEmpty="Write {} for no other fields."
        tellValid={nothing}
      />
    </div>
  );
}
