import { Button, Group, Popover, Stack, TextInput } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";
import { useState } from "react";
import { formatLocalInput } from "../../parts/elements/time.tsx";

const HOUR_MS = 3_600_000;

const LAST: { label: string; ms: number }[] = [
  { label: "Last hour", ms: HOUR_MS },
  { label: "Last 24 hours", ms: 24 * HOUR_MS },
  { label: "Last 7 days", ms: 7 * 24 * HOUR_MS },
  { label: "Last 30 days", ms: 30 * 24 * HOUR_MS },
];

interface Range {
  /** ISO 8601, or empty. */
  after: string;
  before: string;
}

interface Props extends Range {
  change: (range: Range) => void;
}

/** Fields for the time range in which runs were created. */
export function TimeRange({ after, before, change }: Props) {
  const [isOpen, setOpen] = useState(false);
  const choose = (range: Range) => {
    change(range);
    setOpen(false);
  };
  const field = (label: string, name: keyof Range, value: string) => (
    <TextInput
      // Its own text stands until a whole moment is chosen.
      key={value}
      size="xs"
      type="datetime-local"
      label={label}
      defaultValue={formatLocalInput(value)}
      onBlur={({ currentTarget }) => {
        const text = currentTarget.value;
        if (text === formatLocalInput(value)) return;
        change({ after, before, [name]: text === "" ? "" : new Date(text).toISOString() });
      }}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconClock size={16} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
        >
          Time
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <Group gap="xs" grow>
            {LAST.slice(0, 2).map(lastButton)}
          </Group>
          <Group gap="xs" grow>
            {LAST.slice(2).map(lastButton)}
          </Group>
          {field("From", "after", after)}
          {field("To", "before", before)}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );

  function lastButton({ label, ms }: (typeof LAST)[number]) {
    return (
      <Button
        key={label}
        size="xs"
        variant="default"
        onClick={() => choose({ after: new Date(Date.now() - ms).toISOString(), before: "" })}
      >
        {label}
      </Button>
    );
  }
}
