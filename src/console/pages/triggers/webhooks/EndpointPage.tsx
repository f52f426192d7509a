import { Alert, Anchor, Button } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import type { WebhookEndpoint } from "../../../api/interface.d.ts";
import { usePolling } from "../../../api/live.ts";
import { useAction, useConfirmation } from "../../../parts/elements/actions.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { RowMenu } from "../../../parts/elements/RowMenu.tsx";
import { formatExactTime, Moment } from "../../../parts/elements/time.tsx";
import { FactList } from "../../../parts/items/FactList.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { Deliveries } from "./Deliveries.tsx";
import { EndpointDialog, SecretOnce } from "./EndpointDialog.tsx";
import { endpointsQuery, getEndpointState } from "./queries.ts";

/** An endpoint: its events, and its deliveries. */
export default function EndpointPage() {
  const workspace = useWorkspace();
  const { id } = useParams<{ id: string }>();
  const list = useQuery({ ...endpointsQuery(workspace), ...usePolling(10_000) });
  const endpoint = list.data?.find((each) => each.id === id);
  return (
    <div className="page">
      <PageHead
        title={endpoint?.description || endpoint?.url || "Endpoint"}
        above={
          <Anchor component={Link} href={linkTo.webhooks(workspace)} fz="sm">
            Outgoing webhooks
          </Anchor>
        }
      >
        {endpoint && <Actions workspace={workspace} endpoint={endpoint} />}
      </PageHead>
      {list.error && !list.data ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Loading />
      ) : endpoint ? (
        <Shown workspace={workspace} endpoint={endpoint} />
      ) : (
        <Empty title="There is no such endpoint">It may have been deleted.</Empty>
      )}
    </div>
  );
}

function Actions({ workspace, endpoint }: { workspace: string; endpoint: WebhookEndpoint }) {
  const { id, url, enabled } = endpoint;
  const [, go] = useLocation();
  const [isEditing, setEditing] = useState(false);
  const [secret, setSecret] = useState<string>();
  const { act, isPending } = useAction();
  const { ask, dialog } = useConfirmation();
  const change = () =>
    act(async () => {
      const body = { enabled: !enabled };
      await callOperation("POST /w/{workspace}/webhooks/update/{id}", { workspace, id, body });
      return undefined;
    });
  const pause = () =>
    ask({
      title: "Pause the endpoint?",
      text: "While it is paused, no events are sent to it or stored for it: it misses the changes of that time.",
      label: "Pause",
      action: async () => {
        const body = { enabled: false };
        await callOperation("POST /w/{workspace}/webhooks/update/{id}", { workspace, id, body });
        return undefined;
      },
    });
  const rotate = () =>
    ask({
      title: "Create a new secret?",
      text: "For one day, events are signed with the old secret too. Give the new one to the receiver within that time.",
      label: "Create",
      action: async () => {
        const made = await callOperation("POST /w/{workspace}/webhooks/rotate_secret/{id}", {
          workspace,
          id,
        });
        setSecret(made.secret);
        return undefined;
      },
    });
  const remove = () =>
    ask({
      title: "Delete the endpoint?",
      text: `${url} receives no more events, and the record of its deliveries is deleted.`,
      label: "Delete",
      action: async () => {
        await callOperation("DELETE /w/{workspace}/webhooks/delete/{id}", { workspace, id });
        go(linkTo.webhooks(workspace));
        return "The endpoint is deleted";
      },
    });
  return (
    <>
      <Button variant="default" loading={isPending} onClick={enabled ? pause : change}>
        {enabled ? "Pause" : "Resume"}
      </Button>
      <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => setEditing(true)}>
        Edit
      </Button>
      <RowMenu
        of={url}
        entries={[
          { label: "New secret", onClick: rotate },
          { label: "Delete", onClick: remove, isDangerous: true },
        ]}
      />
      {isEditing && (
        <EndpointDialog workspace={workspace} endpoint={endpoint} close={() => setEditing(false)} />
      )}
      <SecretOnce secret={secret} close={() => setSecret(undefined)} />
      {dialog}
    </>
  );
}

function Shown({ workspace, endpoint }: { workspace: string; endpoint: WebhookEndpoint }) {
  const { id, url, types, enabled, failing_since, created_by, created_at } = endpoint;
  return (
    <div className="stack">
      {enabled && failing_since && (
        <Alert color="red" variant="light" title="The endpoint does not accept requests">
          Since {formatExactTime(failing_since)}. Each event is retried for a day; failed events can be sent
          again below.
        </Alert>
      )}
      <FactList
        facts={[
          ["State", getEndpointState(endpoint).word],
          ["Address", url],
          ["Events", types === null ? "every change" : types.join(", ")],
          ["Created by", created_by],
          ["Created", <Moment key="" at={created_at} />],
        ]}
      />
      <Deliveries workspace={workspace} id={id} />
    </div>
  );
}
