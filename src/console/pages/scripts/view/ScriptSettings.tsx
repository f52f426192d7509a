import { Button, Checkbox, Group, NumberInput, Select, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { useAction } from "../../../parts/actions.tsx";
import { toNewScript } from "../../../parts/scripts.ts";

interface Props {
  workspace: string;
  script: Script;
  mayWrite: boolean;
}

type Shown = Pick<
  Script,
  | "summary"
  | "description"
  | "tag"
  | "timeout"
  | "concurrent_limit"
  | "concurrency_time_window_s"
  | "cache_ttl"
  | "isolation"
  | "memory_mb"
  | "ws_error_handler_muted"
  | "delete_after_use"
  | "priority"
>;

/** Settings of a script. They are part of a version, so saving them deploys a new one. */
export function ScriptSettings({ workspace, script, mayWrite }: Props) {
  const [value, setValue] = useState<Shown>(script);
  const { act, isPending } = useAction();
  const set = (next: Partial<Shown>) => setValue({ ...value, ...next });
  const number = (
    name:
      | "timeout"
      | "concurrent_limit"
      | "concurrency_time_window_s"
      | "cache_ttl"
      | "memory_mb"
      | "priority",
    label: string,
    description: string,
  ) => (
    <NumberInput
      label={label}
      description={description}
      min={0}
      allowDecimal={false}
      readOnly={!mayWrite}
      value={value[name] ?? ""}
      onChange={(entered) => set({ [name]: entered === "" ? null : Number(entered) })}
    />
  );
  const save = () =>
    act(async () => {
      const body = { ...toNewScript(script), ...value, deployment_message: "Settings changed" };
      await call("POST /w/{workspace}/scripts/create", { workspace, body: body as never });
      return "Deployed with these settings";
    });
  return (
    <form
      className="settings-form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <TextInput
        label="Summary"
        readOnly={!mayWrite}
        value={value.summary}
        onChange={(event) => set({ summary: event.currentTarget.value })}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        readOnly={!mayWrite}
        value={value.description}
        onChange={(event) => set({ description: event.currentTarget.value })}
      />
      {number("timeout", "Timeout, in seconds", "A run that takes longer is ended")}
      {number("memory_mb", "Memory, in MB", "A run that needs more is ended")}
      {number("concurrent_limit", "Runs at the same time", "Further ones wait")}
      {number("concurrency_time_window_s", "Within so many seconds", "For a limit of runs per time")}
      {number(
        "cache_ttl",
        "Keep results, in seconds",
        "The same arguments get the same answer without a run",
      )}
      {number("priority", "Priority", "Higher ones leave the queue first")}
      <TextInput
        label="Tag"
        description="Only workers with this tag take it"
        readOnly={!mayWrite}
        value={value.tag ?? ""}
        onChange={(event) => set({ tag: event.currentTarget.value.trim() || null })}
      />
      <Select
        label="Process"
        allowDeselect={false}
        readOnly={!mayWrite}
        data={[
          { value: "shared", label: "Kept warm between runs (quick)" },
          { value: "fresh", label: "A new one for each run" },
        ]}
        value={value.isolation}
        onChange={(isolation) => set({ isolation: isolation as Shown["isolation"] })}
      />
      <Checkbox
        label="Arguments and result are not kept after the run"
        disabled={!mayWrite}
        checked={value.delete_after_use}
        onChange={(event) => set({ delete_after_use: event.currentTarget.checked })}
      />
      <Checkbox
        label="A failure does not start the workspace's error handler"
        disabled={!mayWrite}
        checked={value.ws_error_handler_muted}
        onChange={(event) => set({ ws_error_handler_muted: event.currentTarget.checked })}
      />
      {mayWrite && (
        <Group>
          <Button type="submit" loading={isPending}>
            Deploy with these settings
          </Button>
          <Text c="dimmed">Makes a new version with the same code.</Text>
        </Group>
      )}
    </form>
  );
}
