import { Checkbox, Select, Stack, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type FormEvent, useRef, useState } from "react";
import type { Schedule } from "../../../api/interface.d.ts";
import { formatLocalInput } from "../../../parts/elements/time.tsx";
import { ArgumentsInput } from "../../../parts/form/ArgumentsInput.tsx";
import { RunnableInput, type RunnableRef } from "../../../parts/form/RunnableInput.tsx";
import type { Validate } from "../../../parts/form/SchemaForm.tsx";
import { linkTo } from "../../../parts/navigation/places.ts";
import { describeCron } from "../../../parts/triggers/cron.ts";
import { FormFooter, getInitialRunnable, useNaming } from "../form-parts.tsx";
import { RetryInput, readRetry } from "../RetryInput.tsx";
import type { TriggerFormProps } from "../TriggerEditPage.tsx";
import { type Handlers, HandlersInput, normalizeHandlers } from "./HandlersInput.tsx";
import { NextTimes } from "./NextTimes.tsx";
import { type ScheduleFields, useSaveSchedule } from "./queries.ts";
import { OWN_ZONE, ZONES } from "./time-zones.ts";

/** Returns the stored fields that this form does not show. */
function pickUnshownFields(existing: Schedule | undefined): Partial<ScheduleFields> {
  if (!existing) return {};
  const { tag, cron_version, on_failure_extra_args, on_recovery_extra_args, on_success_extra_args } =
    existing;
  const extra = { on_failure_extra_args, on_recovery_extra_args, on_success_extra_args };
  return { tag: tag ?? null, cron_version: cron_version ?? null, ...extra } as Partial<ScheduleFields>;
}

export function ScheduleForm({ workspace, existing, initial, path: firstPath }: TriggerFormProps<Schedule>) {
  const name = useNaming(firstPath, existing);
  const [of, setOf] = useState(getInitialRunnable(existing, initial));
  const [schedule, setSchedule] = useState(existing?.schedule ?? "0 0 9 * * 1-5");
  const [timezone, setTimezone] = useState(existing?.timezone ?? OWN_ZONE);
  const [args, setArgs] = useState<Record<string, unknown>>(existing?.args ?? {});
  const [noOverlap, setNoOverlap] = useState(existing?.no_flow_overlap ?? false);
  const [handlers, setHandlers] = useState<Handlers>(existing ?? {});
  const [retry, setRetry] = useState(readRetry(existing));
  const [pausedUntil, setPausedUntil] = useState(existing?.paused_until ?? null);
  const [isReady, setReady] = useState(false);
  const validate = useRef<Validate>(null);
  const [settled] = useDebouncedValue(schedule, 300);
  const save = useSaveSchedule(workspace, existing?.path);
  const isComplete = isReady && name.isNamed && schedule.trim() !== "";
  const choose = (next: RunnableRef | undefined) => {
    setOf(next);
    setArgs({});
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!of || !isComplete || validate.current?.() === false) return;
    save.mutate({
      ...pickUnshownFields(existing),
      ...name.naming,
      script_path: of.path,
      is_flow: of.kind === "flow",
      enabled: existing?.enabled ?? true,
      schedule,
      timezone,
      args,
      no_flow_overlap: noOverlap,
      paused_until: pausedUntil,
      retry,
      ...normalizeHandlers(handlers),
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
          label="Cron expression"
          description={
            <span role="status">
              {describeCron(schedule) ?? "Six fields: second, minute, hour, day, month, weekday."}
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
          data={[...new Set([timezone, ...ZONES])]}
          value={timezone}
          onChange={(zone) => zone && setTimezone(zone)}
        />
        <TextInput
          type="datetime-local"
          label="Not before"
          description={`No run starts before this time (in your time zone, ${OWN_ZONE}). Empty: runs start from now on.`}
          value={formatLocalInput(pausedUntil)}
          onChange={({ currentTarget: { value } }) =>
            setPausedUntil(value === "" ? null : new Date(value).toISOString())
          }
        />
        <NextTimes
          schedule={settled}
          timezone={timezone}
          version={existing?.cron_version}
          pausedUntil={pausedUntil}
        />
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
        {of?.kind === "script" && <RetryInput value={retry} change={setRetry} />}
        <HandlersInput
          workspace={workspace}
          value={handlers}
          change={setHandlers}
          otherwise={
            existing
              ? "Scripts or flows that are started after a run. Empty: nothing is started."
              : "Scripts or flows that are started after a run. Empty: the default handlers from the workspace settings."
          }
        />
        <FormFooter
          save={save}
          values={[name.naming, of, schedule, timezone, noOverlap, handlers, retry, pausedUntil]}
          late={isReady ? args : undefined}
          isComplete={of !== undefined && isComplete}
          label={existing ? "Save" : "Create the schedule"}
          leave={existing ? linkTo.schedule(workspace, existing.path) : linkTo.schedules(workspace)}
        />
      </Stack>
    </form>
  );
}
