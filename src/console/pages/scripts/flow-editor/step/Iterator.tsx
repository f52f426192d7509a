/** The list that a loop iterates over. */
import { Text } from "@mantine/core";
import type { Fields } from "../../../../api/json.ts";
import type { Path } from "../model/document.ts";
import type { PlacedStep } from "../model/steps.ts";
import { Transform } from "./Transform.tsx";

const LIST = { type: "array", description: "A list: its steps run once for each item." };

interface Props {
  placed: PlacedStep;
  set: (path: Path, next: unknown, label: string) => void;
}

export function Iterator({ placed, set }: Props) {
  return (
    <>
      <Transform
        name="Items"
        of={placed.key}
        schema={LIST}
        isRequired
        value={(placed.step.value as Fields).iterator}
        change={(next) => set(["value", "iterator"], next, "Items")}
      />
      <Text fz="xs" c="dimmed">
        Its steps can read the item as flow_input.iter.value, and its number as flow_input.iter.index.
      </Text>
    </>
  );
}
