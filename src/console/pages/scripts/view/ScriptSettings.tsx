import {
  Button,
  Checkbox,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { useAction } from "../../../parts/actions.tsx";
import { SignatureInput } from "../../../parts/calling/SignatureInput.tsx";
import { isSignatureComplete, NEW_SIGNATURE, usedOf } from "../../../parts/calling/signatures.ts";
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
  | "concurrency_key"
  | "cache_ttl"
  | "isolation"
  | "memory_mb"
  | "ws_error_handler_muted"
  | "delete_after_use"
  | "visible_to_runner_only"
  | "validate"
  | "priority"
  | "signature"
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
  const text = (name: "concurrency_key" | "tag", label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      readOnly={!mayWrite}
      value={value[name] ?? ""}
      onChange={(event) => set({ [name]: event.currentTarget.value.trim() || null })}
    />
  );
  const flag = (
    name: "validate" | "delete_after_use" | "visible_to_runner_only" | "ws_error_handler_muted",
    label: string,
  ) => (
    <Checkbox
      label={label}
      disabled={!mayWrite}
      checked={value[name]}
      onChange={(event) => set({ [name]: event.currentTarget.checked })}
    />
  );
  const save = () =>
    act(async () => {
      const signature = value.signature ? usedOf(value.signature) : null;
      const body = { ...toNewScript(script), ...value, signature, deployment_message: "Settings changed" };
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
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="0.9rem">
        {number("timeout", "Timeout, in seconds", "A run that takes longer is ended")}
        {number("memory_mb", "Memory, in MB", "A run that needs more is ended")}
        {number("concurrent_limit", "Runs at the same time", "Further ones wait")}
        {number("concurrency_time_window_s", "Within so many seconds", "For a limit of runs per time")}
        {text("concurrency_key", "Key of the limit", "Scripts with the same key share it")}
        {text("tag", "Tag", "Only workers with this tag take it")}
        {number("cache_ttl", "Keep results, in seconds", "For calls with the same arguments")}
        {number("priority", "Priority", "Higher ones leave the queue first")}
      </SimpleGrid>
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
      {flag("validate", "Calls whose arguments do not fit the schema are refused")}
      {flag("delete_after_use", "Arguments and result are not kept after the run")}
      {flag("visible_to_runner_only", "Runs are seen by whoever starts them, and by admins, alone")}
      {flag("ws_error_handler_muted", "A failure does not start the workspace's error handler")}
      <Checkbox
        label="Only signed requests start it"
        description="A service that calls its webhook, such as GitHub or Stripe, proves with a shared secret that it has sent the request, besides the token."
        disabled={!mayWrite}
        checked={Boolean(value.signature)}
        onChange={(event) => set({ signature: event.currentTarget.checked ? NEW_SIGNATURE : null })}
      />
      {value.signature && (
        <SignatureInput
          workspace={workspace}
          readOnly={!mayWrite}
          value={value.signature}
          change={(signature) => set({ signature })}
        />
      )}
      {mayWrite && (
        <Group>
          <Button
            type="submit"
            loading={isPending}
            disabled={value.signature ? !isSignatureComplete(value.signature) : false}
          >
            Deploy with these settings
          </Button>
          <Text c="dimmed">Makes a new version with the same code.</Text>
        </Group>
      )}
    </form>
  );
}
