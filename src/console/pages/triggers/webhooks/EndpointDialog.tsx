import { Alert, Button, Group, Modal, MultiSelect, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import type { WebhookEndpoint } from "../../../api/interface.d.ts";
import { Copied } from "../../../parts/calling/Address.tsx";
import { FormDialog } from "../../../parts/elements/actions.tsx";
import { EVENT_GROUPS, type EventType } from "./queries.ts";

interface Props {
  workspace: string;
  /** The endpoint to change; undefined: a new one. */
  endpoint?: WebhookEndpoint;
  close: () => void;
  /** Called with the secret of a new one. */
  created?: (secret: string) => void;
}

/** Form of an endpoint that receives events. */
export function EndpointDialog({ workspace, endpoint, close, created }: Props) {
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [types, setTypes] = useState<string[]>(endpoint?.types ?? []);
  const action = async () => {
    const body = {
      url: url.trim(),
      description,
      types: types.length > 0 ? (types as EventType[]) : null,
    };
    if (endpoint) {
      await callOperation("POST /w/{workspace}/webhooks/update/{id}", { workspace, id: endpoint.id, body });
      return "The endpoint is changed";
    }
    const { secret } = await callOperation("POST /w/{workspace}/webhooks/create", { workspace, body });
    created?.(secret);
    return undefined;
  };
  return (
    <FormDialog
      title={endpoint ? "Edit the endpoint" : "New endpoint"}
      opened
      close={close}
      action={action}
      label={endpoint ? "Save" : "Create"}
      isReady={url.trim() !== ""}
    >
      <TextInput
        data-autofocus
        required
        label="Address"
        description="Gets a signed POST for each event."
        placeholder="https://example.org/hooks/svc"
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <MultiSelect
        label="Events"
        description="Empty: every change."
        placeholder={types.length === 0 ? "Every change" : ""}
        searchable
        clearable
        data={EVENT_GROUPS}
        value={types}
        onChange={setTypes}
      />
      <TextInput
        label="Description"
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormDialog>
  );
}

/** Shows a secret that cannot be read again. */
export function SecretOnce({ secret, close }: { secret: string | undefined; close: () => void }) {
  return (
    <Modal opened={secret !== undefined} onClose={close} title="Signing secret">
      <Text mb="sm">
        The receiver uses it to verify that an event comes from here, as specified by Standard Webhooks.
      </Text>
      <Alert color="yellow" variant="light">
        <Text mb="xs">Copy the secret now: it is shown only once.</Text>
        <Copied label="Secret" value={secret ?? ""} />
      </Alert>
      <Group justify="flex-end" mt="lg">
        <Button onClick={close}>Done</Button>
      </Group>
    </Modal>
  );
}
