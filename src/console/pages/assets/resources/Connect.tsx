import { Anchor, Button, Modal, Select, Stack, Text, TextInput } from "@mantine/core";
import { IconPlugConnected } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { getOperationUrl } from "../../../api/call.ts";
import { useOwnPrefix } from "../../../api/item-rights.ts";
import { oauthProvidersQuery } from "./queries.ts";

/** Connects an account at an OAuth provider. Renders nothing if the instance has no providers. */
export function Connect({ workspace }: { workspace: string }) {
  const providers = useQuery(oauthProvidersQuery).data ?? [];
  const prefix = useOwnPrefix(workspace);
  const [open, setOpen] = useState(false);
  const [provider, setProvider] = useState<string | null>(null);
  const [typed, setTyped] = useState<string>();
  if (providers.length === 0) return null;
  const client = provider ?? providers[0]!;
  const path = typed ?? `${prefix}${client}`;
  return (
    <>
      <Button variant="default" leftSection={<IconPlugConnected size={16} />} onClick={() => setOpen(true)}>
        Connect an account
      </Button>
      <Modal opened={open} onClose={() => setOpen(false)} title="Connect an account">
        <Stack>
          <Text>
            You are redirected to the provider to give your consent. Its token is stored as a secret and
            refreshed before it expires.
          </Text>
          <Select
            label="Provider"
            data={providers}
            value={client}
            allowDeselect={false}
            onChange={setProvider}
          />
          <TextInput label="Path" value={path} onChange={(event) => setTyped(event.currentTarget.value)} />
          <Anchor
            target="_blank"
            rel="noopener"
            onClick={() => setOpen(false)}
            href={getOperationUrl("GET /oauth/connect/{client_name}", {
              client_name: client,
              query: { workspace, path },
            })}
          >
            Go to {client}, in a new tab
          </Anchor>
        </Stack>
      </Modal>
    </>
  );
}
