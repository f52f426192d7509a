import { Badge } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Empty } from "../../../parts/Empty.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";

interface Trigger {
  kind: "Schedule" | "HTTP route" | "WebSocket";
  path: string;
  what: string;
  enabled: boolean;
}

async function listTriggers(workspace: string, path: string, signal: AbortSignal): Promise<Trigger[]> {
  const query = { path, is_flow: false, per_page: 100 };
  const [schedules, routes, sockets] = await Promise.all([
    call("GET /w/{workspace}/schedules/list", { workspace, query }, signal),
    call("GET /w/{workspace}/http_triggers/list", { workspace, query }, signal),
    call("GET /w/{workspace}/websocket_triggers/list", { workspace, query }, signal),
  ]);
  return [
    ...schedules.map((each) => ({
      kind: "Schedule" as const,
      path: each.path,
      what: `${each.schedule} (${each.timezone})`,
      enabled: each.enabled,
    })),
    ...routes.map((each) => ({
      kind: "HTTP route" as const,
      path: each.path,
      what: `${each.http_method.toUpperCase()} ${each.workspaced_route ? `${workspace}/` : ""}${each.route_path}`,
      enabled: each.enabled,
    })),
    ...sockets.map((each) => ({
      kind: "WebSocket" as const,
      path: each.path,
      what: each.url,
      enabled: each.enabled,
    })),
  ];
}

/** What starts the script, beside people and webhooks. */
export function Triggers({ workspace, path }: { workspace: string; path: string }) {
  const triggers = useQuery({
    queryKey: [workspace, "triggers", "of", path],
    queryFn: ({ signal }) => listTriggers(workspace, path, signal),
  });
  if (triggers.error) return <Problem error={triggers.error} retry={() => void triggers.refetch()} />;
  if (!triggers.data) return <Loading />;
  if (triggers.data.length === 0) {
    return (
      <Empty
        title="Nothing starts it by itself"
        command={`svc schedule create ${path} '0 7 * * *' --run ${path}`}
      >
        A schedule starts it at fixed times, an HTTP route when its address is called, a WebSocket trigger for
        each message.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Triggers"
      rows={triggers.data}
      keyOf={({ kind, path: own }) => `${kind} ${own}`}
      columns={[
        { name: "Kind", width: "8rem", cell: ({ kind }) => kind },
        {
          name: "Path",
          width: "minmax(0, 1fr)",
          cell: ({ path: own }) => <span className="mono">{own}</span>,
        },
        { name: "When", width: "minmax(0, 1.5fr)", cell: ({ what }) => <span className="mono">{what}</span> },
        {
          name: "State",
          width: "6rem",
          cell: ({ enabled }) =>
            enabled ? (
              "on"
            ) : (
              <Badge size="sm" variant="default">
                off
              </Badge>
            ),
        },
      ]}
    />
  );
}
