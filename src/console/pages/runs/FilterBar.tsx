import { Badge, Button, Group, Popover, Select, Stack, TextInput } from "@mantine/core";
import { IconFilter, IconSearch, IconX } from "@tabler/icons-react";
import { formatExactTime } from "../../parts/elements/time.tsx";
import { TRIGGER_KINDS } from "../../parts/triggers/trigger-kinds.ts";
import {
  countPopoverFilters,
  type Filters,
  type Kind,
  STATUS_LABELS,
  STATUSES,
  type Status,
} from "./filters.ts";
import { TimeRange } from "./TimeRange.tsx";

const KINDS: { value: Kind; label: string }[] = [
  { value: "runs", label: "Scripts and flows" },
  { value: "scripts", label: "Scripts" },
  { value: "flows", label: "Flows" },
  { value: "previews", label: "Test runs" },
  { value: "everything", label: "All, including steps" },
];

const BESIDE: {
  name: "text" | "user" | "tag" | "label" | "worker" | "schedule" | "args" | "result";
  label: string;
  hint?: string;
}[] = [
  { name: "text", label: "Text", hint: "words in arguments, result or labels" },
  { name: "user", label: "Started by" },
  { name: "schedule", label: "Schedule", hint: "path of the schedule" },
  { name: "tag", label: "Tag" },
  { name: "label", label: "Label" },
  { name: "worker", label: "Worker" },
  { name: "args", label: "Arguments contain", hint: 'JSON, such as {"name":"Bob"}' },
  { name: "result", label: "Result contains", hint: 'JSON, such as {"ok":false}' },
];

const TRIGGERS = Object.entries({
  webhook: "an API call",
  schedule: "a schedule",
  ...TRIGGER_KINDS,
}).map(([value, label]) => ({ value, label: label[0]!.toUpperCase() + label.slice(1) }));
const triggerLabel = (kind: string) => TRIGGERS.find(({ value }) => value === kind)?.label ?? kind;

interface Props {
  filters: Filters;
  change: (next: Partial<Filters>, push: boolean) => void;
}

export function FilterBar({ filters, change }: Props) {
  const beside = countPopoverFilters(filters);
  return (
    <>
      <Group gap="xs" mb="sm">
        <TextInput
          data-search
          aria-label="Path begins with"
          placeholder="Path begins with…"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={filters.path}
          onChange={(event) => change({ path: event.currentTarget.value.trim() }, false)}
          style={{ flex: "1 1 14rem" }}
        />
        <Select
          aria-label="Status"
          allowDeselect={false}
          w={163}
          data={STATUSES.map((value) => ({ value, label: STATUS_LABELS[value] }))}
          value={filters.status}
          onChange={(value) => value && change({ status: value as Status }, true)}
        />
        <Select
          aria-label="Kind"
          allowDeselect={false}
          w={185}
          data={KINDS}
          value={filters.kind}
          onChange={(value) => value && change({ kind: value as Kind }, true)}
        />
        <TimeRange after={filters.after} before={filters.before} change={(range) => change(range, true)} />
        <Popover position="bottom-end" width={300} trapFocus>
          <Popover.Target>
            <Button variant="default" leftSection={<IconFilter size={16} />}>
              {beside > 0 ? `More filters (${beside})` : "More filters"}
            </Button>
          </Popover.Target>
          <Popover.Dropdown>
            <Stack gap="xs">
              <Select
                size="xs"
                label="Trigger"
                placeholder="Any trigger"
                clearable
                clearButtonProps={{ "aria-label": "Any trigger" }}
                comboboxProps={{ withinPortal: false }}
                data={TRIGGERS}
                value={filters.trigger || null}
                onChange={(value) => change({ trigger: value ?? "" }, true)}
              />
              {BESIDE.map(({ name, label, hint }) => (
                <TextInput
                  key={name}
                  size="xs"
                  label={label}
                  placeholder={hint}
                  defaultValue={filters[name]}
                  onBlur={(event) => {
                    const value = event.currentTarget.value.trim();
                    if (value !== filters[name]) change({ [name]: value }, true);
                  }}
                  onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
                />
              ))}
            </Stack>
          </Popover.Dropdown>
        </Popover>
      </Group>
      {(beside > 0 || filters.after || filters.before) && (
        <Group gap="xs" mb="sm">
          {BESIDE.filter(({ name }) => filters[name] !== "").map(({ name, label }) => (
            <Chip
              key={name}
              text={`${label}: ${filters[name]}`}
              remove={() => change({ [name]: "" }, true)}
            />
          ))}
          {filters.trigger !== "" && (
            <Chip
              text={`Trigger: ${triggerLabel(filters.trigger)}`}
              remove={() => change({ trigger: "" }, true)}
            />
          )}
          {(filters.after || filters.before) && (
            <Chip
              text={[
                filters.after && `from ${formatExactTime(filters.after)}`,
                filters.before && `to ${formatExactTime(filters.before)}`,
              ]
                .filter(Boolean)
                .join(" ")}
              remove={() => change({ after: "", before: "" }, true)}
            />
          )}
        </Group>
      )}
    </>
  );
}

function Chip({ text, remove }: { text: string; remove: () => void }) {
  return (
    <Badge
      variant="default"
      size="lg"
      fw={500}
      component="button"
      onClick={remove}
      style={{ cursor: "pointer", maxWidth: "100%" }}
      rightSection={<IconX size={12} aria-label="Remove this filter" />}
    >
      {text}
    </Badge>
  );
}
