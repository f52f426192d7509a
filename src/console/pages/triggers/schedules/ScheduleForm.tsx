import { Autocomplete, Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type FormEvent, useRef, useState } from "react";
import type { Schedule } from "../../../api/interface.d.ts";
import { ArgumentsInput } from "../../../parts/form/ArgumentsInput.tsx";
import { useHandlerChoices } from "../../../parts/form/handler-choices.ts";
import { RunnableInput, type RunnableRef } from "../../../parts/form/RunnableInput.tsx";
import type { Validate } from "../../../parts/form/SchemaForm.tsx";
import { to } from "../../../parts/places.ts";
import { FormEnd, runnableOf, useNaming } from "../form-parts.tsx";
import type { TriggerFormProps } from "../TriggerEditPage.tsx";
import { NextTimes } from "./NextTimes.tsx";
import { type ScheduleFields, useSave } from "./queries.ts";
import { describeCron, OWN_ZONE, ZONES } from "./rule.ts";

/** Stored fields that this form does not show. */
function kept(existing: Schedule | undefined): Partial<ScheduleFields> {
  if (!existing) return {};
  const { tag, paused_until, cron_version, ws_error_handler_muted, retry } = existing;
  const { on_failure, on_failure_times, on_failure_exact, on_failure_extra_args } = existing;
  const { on_recovery, on_recovery_times, on_recovery_extra_args, on_success, on_success_extra_args } =
    existing;
  const handlers = { on_failure, on_failure_times, on_failure_exact, on_failure_extra_args };
  const others = {
    on_recovery,
    on_recovery_times,
    on_recovery_extra_args,
    on_success,
    on_success_extra_args,
  };
  const options = { tag, paused_until, cron_version, ws_error_handler_muted, retry: retry as null };
  return { ...options, ...handlers, ...others } as Partial<ScheduleFields>;
}

export function ScheduleForm({ workspace, existing, initial, path: firstPath }: TriggerFormProps<Schedule>) {
  const name = useNaming(firstPath, existing);
  const [of, setOf] = useState(runnableOf(existing, initial));
  const [schedule, setSchedule] = useState(existing?.schedule ?? "0 0 9 * * 1-5");
  const [timezone, setTimezone] = useState(existing?.timezone ?? OWN_ZONE);
  const [args, setArgs] = useState<Record<string, unknown>>(existing?.args ?? {});
  const [noOverlap, setNoOverlap] = useState(existing?.no_flow_overlap ?? false);
  const [onFailure, setOnFailure] = useState(existing?.on_failure ?? "");
  const handlers = useHandlerChoices(workspace);
  const [isReady, setReady] = useState(false);
  const validate = useRef<Validate>(null);
  const [settled] = useDebouncedValue(schedule, 300);
  const save = useSave(workspace, existing?.path);
  const isComplete = isReady && name.isNamed && schedule.trim() !== "";
  const choose = (next: RunnableRef | undefined) => {
    setOf(next);
    setArgs({});
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!of || !isComplete || validate.current?.() === false) return;
    save.mutate({
      ...kept(existing),
      ...name.naming,
      script_path: of.path,
      is_flow: of.kind === "flow",
      enabled: existing?.enabled ?? true,
      schedule,
      timezone,
      args,
      no_flow_overlap: noOverlap,
      // A new schedule without one gets that of the workspace.
      ...(existing || onFailure !== "" ? { on_failure: onFailure.trim() || null } : {}),
    });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {!existing && (
          <>
            <RunnableInput workspace={workspace} label="What it runs" value={of} change={choose} />
            {name.pathField}
          </>
        )}
        {name.summaryField}
        {name.descriptionField}
        <TextInput
          required
          label="Rule"
          description={
            <span role="status">
              {describeCron(schedule) ?? "Second, minute, hour, day, month, weekday, as cron has them."}
            </span>
          }
          className="mono-input"
          value={schedule}
          onChange={(event) => setSchedule(event.currentTarget.value)}
        />
        <Select
          required
          searchable
          limit={60}
          allowDeselect={false}
          label="Time zone"
          data={ZONES.includes(timezone) ? ZONES : [timezone, ...ZONES]}
          value={timezone}
          onChange={(zone) => zone && setTimezone(zone)}
        />
        <NextTimes schedule={settled} timezone={timezone} version={existing?.cron_version} />
        {of && (
          <ArgumentsInput
            key={`${of.kind} ${of.path}`}
            workspace={workspace}
            of={of}
            value={args}
            change={setArgs}
            tellReady={setReady}
            validate={validate}
          />
        )}
        {of?.kind === "flow" && (
          <Checkbox
            label="A run starts only after the previous one has ended"
            checked={noOverlap}
            onChange={(event) => setNoOverlap(event.currentTarget.checked)}
          />
        )}
        <Autocomplete
          label="When it fails"
          description={
            existing
              ? "Runs this script or flow; empty: nothing."
              : "Runs this script or flow; empty: what the settings of the workspace name."
          }
          placeholder="script/f/ops/tell"
          limit={20}
          data={handlers}
          value={onFailure}
          onChange={setOnFailure}
        />
        <FormEnd
          save={save}
          values={[name.naming, of, schedule, timezone, noOverlap, onFailure]}
          late={isReady ? args : undefined}
          isComplete={of !== undefined && isComplete}
          label={existing ? "Save" : "Create the schedule"}
          leave={existing ? to.schedule(workspace, existing.path) : to.schedules(workspace)}
        />
      </Stack>
    </form>
  );
}
