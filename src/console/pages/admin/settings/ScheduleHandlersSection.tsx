import { Autocomplete, Checkbox } from "@mantine/core";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { useHandlerChoices } from "../../../parts/form/handler-choices.ts";
import type { SectionProps } from "./GeneralSections.tsx";
import { Section } from "./Section.tsx";

const MOMENTS = [
  { type: "error", label: "When a run fails" },
  { type: "recovery", label: "When a run succeeds after failures" },
  { type: "success", label: "When a run succeeds" },
] as const;
type Moment = (typeof MOMENTS)[number]["type"];

/** Default handlers of schedules without handlers of their own. */
export function ScheduleHandlersSection({ workspace, settings }: Omit<SectionProps, "isAdmin">) {
  const choices = useHandlerChoices(workspace);
  const storedAt = (type: Moment) => settings[`default_${type}_handler`];
  const [paths, setPaths] = useState<Partial<Record<Moment, string>>>({});
  const [isForAll, setForAll] = useState(false);
  const pathOf = (type: Moment) => paths[type] ?? storedAt(type)?.path ?? "";
  const changed = MOMENTS.filter(({ type }) => pathOf(type).trim() !== (storedAt(type)?.path ?? ""));
  const save = async () => {
    for (const { type } of isForAll ? MOMENTS : changed) {
      const { extra_args, times, exact, workspace_handler_muted } = storedAt(type) ?? {};
      const body = {
        handler_type: type,
        override_existing: isForAll,
        path: pathOf(type).trim() || null,
        extra_args: extra_args ?? null,
        number_of_occurence: times ?? null,
        number_of_occurence_exact: exact ?? null,
        workspace_handler_muted: workspace_handler_muted ?? null,
      };
      await callOperation("POST /w/{workspace}/schedules/setdefaulthandler", { workspace, body });
    }
    setPaths({});
    setForAll(false);
    return isForAll ? "The handlers are saved for all schedules" : "The handlers are saved for new schedules";
  };
  return (
    <Section
      title="Default handlers of schedules"
      about="Scripts or flows that are started after a scheduled run. New schedules get these handlers unless they have their own."
      isChanged={changed.length > 0 || isForAll}
      save={save}
    >
      {MOMENTS.map(({ type, label }) => (
        <Autocomplete
          key={type}
          label={label}
          placeholder="script/f/ops/tell"
          data={choices}
          limit={20}
          value={pathOf(type)}
          onChange={(path) => setPaths({ ...paths, [type]: path })}
        />
      ))}
      <Checkbox
        label="Also replace the handlers of all existing schedules"
        checked={isForAll}
        onChange={(event) => setForAll(event.currentTarget.checked)}
      />
    </Section>
  );
}
