import { Badge, Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { call } from "../../../api/call.ts";
import { useMay } from "../../../api/session.ts";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Empty } from "../../../parts/Empty.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { type RunnableKind, to } from "../../../parts/places.ts";

interface Trigger {
  kind: "Schedule" | "HTTP route" | "WebSocket";
  path: string;
  href: string;
  what: string;
  enabled: boolean;
}

async function listTriggers(
  workspace: string,
  kind: RunnableKind,
  path: string,
  signal: AbortSignal,
): Promise<Trigger[]> {
  const query = { path, is_flow: kind === "flow", per_page: 100 };
  const [schedules, routes, sockets] = await Promise.all([
    call("GET /w/{workspace}/schedules/list", { workspace, query }, signal),
    call("GET /w/{workspace}/http_triggers/list", { workspace, query }, signal),
    call("GET /w/{workspace}/websocket_triggers/list", { workspace, query }, signal),
  ]);
  return [
    ...schedules.map((each) => ({
      kind: "Schedule" as const,
      path: each.path,
      href: to.schedule(workspace, each.path),
      what: `${each.schedule} (${each.timezone})`,
      enabled: each.enabled,
    })),
    ...routes.map((each) => ({
      kind: "HTTP route" as const,
      path: each.path,
      href: to.route(workspace, each.path),
      what: `${each.http_method.toUpperCase()} ${each.workspaced_route ? `${workspace}/` : ""}${each.route_path}`,
      enabled: each.enabled,
    })),
    ...sockets.map((each) => ({
      kind: "WebSocket" as const,
      path: each.path,
      href: to.socket(workspace, each.path),
      what: each.url,
      enabled: each.enabled,
    })),
  ];
}

interface Props {
  workspace: string;
  kind: RunnableKind;
  path: string;
}

/** The triggers of a script or flow, except webhooks. */
export function Triggers({ workspace, kind, path }: Props) {
  const may = useMay(workspace);
  const triggers = useQuery({
    queryKey: [workspace, "triggers", "of", kind, path],
    queryFn: ({ signal }) => listTriggers(workspace, kind, path, signal),
  });
  if (triggers.error) return <Problem error={triggers.error} retry={() => void triggers.refetch()} />;
  if (!triggers.data) return <Loading />;
  const search = `?${new URLSearchParams({ kind, path })}`;
  const buttons = may("POST /w/{workspace}/schedules/create", "author") && (
    <Group gap="xs" justify={triggers.data.length === 0 ? "center" : "flex-start"}>
      <Button variant="default" component={Link} href={to.newSchedule(workspace) + search}>
        New schedule
      </Button>
      <Button variant="default" component={Link} href={to.newRoute(workspace) + search}>
        New HTTP route
      </Button>
      <Button variant="default" component={Link} href={to.newSocket(workspace) + search}>
        New WebSocket trigger
      </Button>
    </Group>
  );
  if (triggers.data.length === 0) {
    return (
      <Empty
        title="Nothing starts it by itself"
        action={buttons}
        command={`svc schedule create ${path} '0 7 * * *' --run ${path}`}
      >
        A schedule starts it at fixed times, an HTTP route when its address is called, a WebSocket trigger for
        each message.
      </Empty>
    );
  }
  return (
    <div className="stack">
      <DataTable
        label="Triggers"
        rows={triggers.data}
        keyOf={({ kind, path: own }) => `${kind} ${own}`}
        columns={[
          { name: "Kind", width: "8rem", cell: ({ kind }) => kind },
          {
            name: "Path",
            width: "minmax(0, 1fr)",
            cell: ({ path: own, href }) => (
              <Link href={href} className="mono">
                {own}
              </Link>
            ),
          },
          {
            name: "When",
            width: "minmax(0, 1.5fr)",
            cell: ({ what }) => <span className="mono">{what}</span>,
          },
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
      {buttons}
    </div>
  );
}
