/** Fields that have no place of their own, so that nothing has to be written in a file. */
import { Text } from "@mantine/core";
import { type Fields, isRecord } from "../../../../api/json.ts";
import { JsonEditor } from "../../../../parts/form/JsonEditor.tsx";

interface Props {
  value: Fields;
  /** Names of the fields that are shown elsewhere: `retry.constant` shows `retry` up to there. */
  shown: ReadonlySet<string>;
  change: (next: Fields) => void;
}

const nothing = () => {};

export function Rest({ value, shown, change }: Props) {
  const isShown = (name: string) => [...shown].some((path) => path === name || path.startsWith(`${name}.`));
  const rest = Object.fromEntries(Object.entries(value).filter(([name]) => !isShown(name)));
  return (
    <div>
      <Text fz="xs" c="dimmed" mb={4}>
        What has no section here, as JSON.
      </Text>
      <JsonEditor
        label="Other fields"
        value={rest}
        change={(next) => {
          if (!isRecord(next)) return;
          const kept = Object.entries(value).filter(([name]) => isShown(name) || Object.hasOwn(next, name));
          change({ ...Object.fromEntries(kept), ...next });
        }}
        wrong={(next) => {
          if (!isRecord(next)) return "Other fields are an object: a name and a value for each.";
          const elsewhere = Object.keys(next).find((name) => isShown(name) && !Object.hasOwn(rest, name));
          return elsewhere && `${elsewhere} has a field of its own.`;
        }}
        wrongEmpty="Write {} for no other fields."
        tellValid={nothing}
      />
    </div>
  );
}
