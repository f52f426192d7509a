import { ActionIcon, Group, Select } from "@mantine/core";
import { IconChevronLeft, IconChevronRight } from "@tabler/icons-react";
import { getRunState, STATES } from "../runs/run-state.tsx";
import type { StepJob } from "./run-model.ts";

interface Props {
  /** Name of the loop. */
  of: string;
  iterations: StepJob[];
  picked: number;
  pick: (index: number) => void;
}

/** Maximum number of options in the select; other iterations are reached by the buttons. */
const MAX_OPTIONS = 1_000;

/** Selects the iteration of a loop to show. */
export function Iterations({ of, iterations, picked, pick }: Props) {
  const place = iterations.findIndex(({ index }) => index === picked);
  const go = (by: number) => pick(iterations[place + by]!.index ?? 0);
  const act = { variant: "subtle", color: "gray" } as const;
  return (
    <Group gap={2} wrap="nowrap">
      <ActionIcon
        {...act}
        aria-label={`Previous iteration, of ${of}`}
        disabled={place <= 0}
        onClick={() => go(-1)}
      >
        <IconChevronLeft size={16} />
      </ActionIcon>
      <Select
        size="xs"
        w={190}
        searchable
        allowDeselect={false}
        aria-label={`Iteration of ${of}`}
        value={String(picked)}
        onChange={(next) => next !== null && pick(Number(next))}
        data={iterations.slice(0, MAX_OPTIONS).map((each) => ({
          value: String(each.index ?? 0),
          label: `${(each.index ?? 0) + 1}: ${STATES[getRunState(each)].word.toLowerCase()}`,
        }))}
      />
      <ActionIcon
        {...act}
        aria-label={`Next iteration, of ${of}`}
        disabled={place >= iterations.length - 1}
        onClick={() => go(1)}
      >
        <IconChevronRight size={16} />
      </ActionIcon>
    </Group>
  );
}
