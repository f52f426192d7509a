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
import { callOperation } from "../../../api/call.ts";
import type { Script } from "../../../api/interface.d.ts";
import { SignatureInput } from "../../../parts/calling/SignatureInput.tsx";
import { isSignatureComplete, NEW_SIGNATURE, normalizeSignature } from "../../../parts/calling/signatures.ts";
import { useAction } from "../../../parts/elements/actions.tsx";
import { toNewScript } from "../../../parts/items/scripts.ts";

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

/**
 * Settings of a script. They are part of a version, so saving them deploys a new one. What was entered stays when
 * another version arrives, of this form or of somebody else.
 */
export function ScriptSettings({ workspace, script, mayWrite }: Props) {
  const [changes, setChanges] = useState<Partial<Shown>>({});
  const value: Script = { ...script, ...changes };
  const { act, isPending } = useAction();
  const set = (next: Partial<Shown>) => setChanges((before) => ({ ...before, ...next }));
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
  const save = () => {
    const deploy = async () => {
      const signature = value.signature ? normalizeSignature(value.signature) : null;
      const body = { ...toNewScript(value), signature, deployment_message: "Settings changed" };
      await callOperation("POST /w/{workspace}/scripts/create", { workspace, body: body as never });
      return "Deployed with these settings";
    };
    act(deploy, { onSuccess: () => setChanges((now) => omitEqual(now, changes)) });
  };
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
        {number("timeout", "Timeout, in seconds", "A run that takes longer is stopped")}
        {number("memory_mb", "Memory, in MB", "A run that needs more is stopped")}
        {number("concurrent_limit", "Runs at the same time", "More runs wait in the queue")}
        {number("concurrency_time_window_s", "Time window, in seconds", "For a limit of runs per time")}
        {text("concurrency_key", "Concurrency key", "Scripts with the same key share the limit")}
        {text("tag", "Tag", "Only workers with this tag run it")}
        {number("cache_ttl", "Keep results, in seconds", "For calls with the same arguments")}
        {number("priority", "Priority", "Higher priorities run first")}
      </SimpleGrid>
      <Select
        label="Process"
        allowDeselect={false}
        readOnly={!mayWrite}
        data={[
          { value: "shared", label: "Reused between runs (faster)" },
          { value: "fresh", label: "A new one for each run" },
        ]}
        value={value.isolation}
        onChange={(isolation) => set({ isolation: isolation as Shown["isolation"] })}
      />
      {flag("validate", "Reject calls whose arguments do not match the schema")}
      {flag("delete_after_use", "Delete arguments and result after the run")}
      {flag("visible_to_runner_only", "Only admins and the user who started a run can see it")}
      {flag("ws_error_handler_muted", "A failure does not start the workspace's error handler")}
      <Checkbox
        label="Require signed requests"
        description="In addition to the token, the caller of the webhook, such as GitHub or Stripe, signs the request with a shared secret."
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
          <Text c="dimmed">Creates a new version with the same code.</Text>
        </Group>
      )}
    </form>
  );
}

/** Returns the changes without those that were deployed as they are. */
function omitEqual(changes: Partial<Shown>, deployed: Partial<Shown>): Partial<Shown> {
  const isNew = ([name, entered]: [string, unknown]) => entered !== deployed[name as keyof Shown];
  return Object.fromEntries(Object.entries(changes).filter(isNew));
}
