import { Badge, Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePolling } from "../../../api/live.ts";
import { useMay } from "../../../api/session.ts";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { ItemName } from "../../../parts/items/ItemName.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { EndpointDialog, SecretOnce } from "./EndpointDialog.tsx";
import { describeEvents, endpointsQuery, getEndpointState } from "./queries.ts";

/** Outgoing webhooks: endpoints that receive events of the workspace. */
export default function WebhooksPage() {
  const workspace = useWorkspace();
  const may = useMay(workspace)("POST /w/{workspace}/webhooks/create", "admin");
  const list = useQuery({ ...endpointsQuery(workspace), ...usePolling(10_000) });
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string>();
  const create = may && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setCreating(true)}>
      New endpoint
    </Button>
  );
  return (
    <div className="page">
      <PageHead
        title="Outgoing webhooks"
        about="Endpoints of other services that get the changes of this workspace."
      >
        {(list.data?.length ?? 0) > 0 && create}
      </PageHead>
      {list.error && !list.data ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Loading />
      ) : list.data.length === 0 ? (
        <Empty title="No endpoints yet" action={create} command="svc webhook create https://example.org/hook">
          When a script, flow, resource or variable is created, changed or deleted, each endpoint gets a
          signed request. Failed deliveries are retried for a day, and can be sent again by hand.
        </Empty>
      ) : (
        <DataTable
          label="Endpoints"
          rows={list.data}
          keyOf={({ id }) => id}
          columns={[
            {
              name: "Address",
              width: "minmax(0, 1.6fr)",
              cell: ({ id, url, description }) => (
                <ItemName href={linkTo.webhook(workspace, id)} path={url} summary={description} />
              ),
            },
            {
              name: "Events",
              width: "minmax(0, 1fr)",
              cell: (endpoint) => <div className="clip quiet">{describeEvents(endpoint)}</div>,
            },
            {
              name: "State",
              width: "6rem",
              cell: (endpoint) => {
                const { word, color } = getEndpointState(endpoint);
                return (
                  <Badge size="sm" variant="light" color={color}>
                    {word}
                  </Badge>
                );
              },
            },
          ]}
        />
      )}
      {isCreating && (
        <EndpointDialog workspace={workspace} close={() => setCreating(false)} created={setSecret} />
      )}
      <SecretOnce secret={secret} close={() => setSecret(undefined)} />
    </div>
  );
}
