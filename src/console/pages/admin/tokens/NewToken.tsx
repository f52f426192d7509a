import {
  Alert,
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  MultiSelect,
  Select,
  Text,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { callOperation } from "../../../api/call.ts";
import { Copy } from "../../../parts/calling/Copy.tsx";
import { FormDialog } from "../../../parts/elements/actions.tsx";
import { scopesQuery } from "./queries.ts";

interface Props {
  workspace: string;
  opened: boolean;
  close: () => void;
}

const DAY_MS = 86_400_000;
const LIVES = [
  { value: "7", label: "a week" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "a year" },
  { value: "", label: "no expiry" },
];

/** Form for a new token with its scopes; the token is shown once. */
export function NewToken({ workspace, opened, close }: Props) {
  const groups = useQuery({ ...scopesQuery, enabled: opened }).data ?? [];
  const [label, setLabel] = useState("");
  const [days, setDays] = useState("90");
  const [isLimited, setLimited] = useState(false);
  const [scopes, setScopes] = useState<string[]>([]);
  const [isBound, setBound] = useState(true);
  const [made, setMade] = useState<string>();
  const create = async () => {
    const expiration = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null;
    const body = {
      label: label.trim(),
      expiration,
      scopes: isLimited ? scopes : null,
      workspace_id: isBound ? workspace : null,
    };
    setMade(await callOperation("POST /users/tokens/create", { body }));
    setLabel("");
    return undefined;
  };
  return (
    <>
      <FormDialog
        title="New token"
        opened={opened}
        close={close}
        action={create}
        label="Create"
        size="lg"
        isReady={label.trim() !== "" && (!isLimited || scopes.length > 0)}
      >
        <TextInput
          data-autofocus
          label="Name"
          description="Where it will be used, so that you can recognize it later"
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
        <Select
          label="Expires after"
          allowDeselect={false}
          data={LIVES}
          value={days}
          onChange={(value) => setDays(value ?? "90")}
        />
        <Checkbox
          label={`Only for the workspace ${workspace}`}
          checked={isBound}
          onChange={(event) => setBound(event.currentTarget.checked)}
        />
        <Checkbox
          label="Limit the scopes"
          description="Otherwise the token has all your permissions."
          checked={isLimited}
          onChange={(event) => setLimited(event.currentTarget.checked)}
        />
        {isLimited && (
          <MultiSelect
            label="Scopes"
            searchable
            data={groups.map((group) => ({
              group: group.name,
              items: group.scopes.map(({ value, label: name }) => ({ value, label: name })),
            }))}
            value={scopes}
            onChange={setScopes}
            maxDropdownHeight={260}
          />
        )}
      </FormDialog>
      <Modal opened={made !== undefined} onClose={() => setMade(undefined)} title="Your new token" size="lg">
        <Alert color="yellow" variant="light" mb="md">
          Copy the token now: it is shown only once.
        </Alert>
        <Code block className="wrap" aria-label="The token">
          {made}
        </Code>
        <Text mt="md" c="dimmed">
          Send it as the header <Code>Authorization: Bearer …</Code>
        </Text>
        <Group justify="flex-end" mt="lg">
          <Copy text={made ?? ""} />
          <Button onClick={() => setMade(undefined)}>Done</Button>
        </Group>
      </Modal>
    </>
  );
}
