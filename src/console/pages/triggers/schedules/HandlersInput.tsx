import { Autocomplete, Checkbox, Fieldset, Group, NumberInput, Stack, Text } from "@mantine/core";
import { useHandlerChoices } from "../../../parts/form/handler-choices.ts";
import type { ScheduleFields } from "./queries.ts";

/** Handlers of a schedule, as edited in the form. */
export type Handlers = Pick<
  ScheduleFields,
  | "on_failure"
  | "on_failure_times"
  | "on_failure_exact"
  | "on_recovery"
  | "on_recovery_times"
  | "on_success"
  | "ws_error_handler_muted"
>;
type Path = "on_failure" | "on_recovery" | "on_success";

/** Returns the handlers as they are sent, without the options of removed handlers. */
export function normalizeHandlers(handlers: Handlers): Handlers {
  const path = (name: Path) => handlers[name]?.trim() || null;
  const [on_failure, on_recovery] = [path("on_failure"), path("on_recovery")];
  return {
    on_failure,
    on_failure_times: on_failure ? (handlers.on_failure_times ?? null) : null,
    on_failure_exact: on_failure ? (handlers.on_failure_exact ?? null) : null,
    on_recovery,
    on_recovery_times: on_recovery ? (handlers.on_recovery_times ?? null) : null,
    on_success: path("on_success"),
    ws_error_handler_muted: handlers.ws_error_handler_muted ?? false,
  };
}

interface Props {
  workspace: string;
  value: Handlers;
  change: (value: Handlers) => void;
  /** Text for the behavior without a handler. */
  otherwise: string;
}

export function HandlersInput({ workspace, value, change, otherwise }: Props) {
  const choices = useHandlerChoices(workspace);
  const set = (next: Handlers) => change({ ...value, ...next });
  const path = (name: Path, label: string) => (
    <Autocomplete
      label={label}
      placeholder="script/f/ops/tell"
      limit={20}
      style={{ flex: "3 1 14rem" }}
      data={choices}
      value={value[name] ?? ""}
      onChange={(given) => set({ [name]: given })}
    />
  );
  const times = (name: "on_failure_times" | "on_recovery_times", label: string) => (
    <NumberInput
      label={label}
      placeholder="1"
      min={1}
      allowDecimal={false}
      style={{ flex: "1 1 9rem" }}
      value={value[name] ?? ""}
      onChange={(given) => set({ [name]: typeof given === "number" ? given : null })}
    />
  );
  return (
    <Fieldset legend="Handlers" className="list-field">
      <Stack>
        <Text c="dimmed">{otherwise}</Text>
        <Group align="flex-end">
          {path("on_failure", "When it fails")}
          {value.on_failure && times("on_failure_times", "Failures in a row")}
        </Group>
        {value.on_failure && (value.on_failure_times ?? 1) > 1 && (
          <Checkbox
            label="Only once, not after each further failure"
            checked={value.on_failure_exact ?? false}
            onChange={(event) => set({ on_failure_exact: event.currentTarget.checked })}
          />
        )}
        <Group align="flex-end">
          {path("on_recovery", "When it succeeds after failures")}
          {value.on_recovery && times("on_recovery_times", "Successes in a row")}
        </Group>
        <Group>{path("on_success", "When it succeeds")}</Group>
        <Checkbox
          label="A failure does not start the workspace's error handler"
          checked={value.ws_error_handler_muted ?? false}
          onChange={(event) => set({ ws_error_handler_muted: event.currentTarget.checked })}
        />
      </Stack>
    </Fieldset>
  );
}
