import { Badge, Button, Group } from "@mantine/core";
import { queryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { callOperation } from "../../../api/call.ts";
import type { HttpTrigger, Schedule, WebsocketTrigger } from "../../../api/interface.d.ts";
import { usePolling } from "../../../api/live.ts";
import { useMay } from "../../../api/session.ts";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { linkTo, type RunnableKind } from "../../../parts/navigation/places.ts";
import { Connection } from "../../../parts/triggers/Connection.tsx";
import { describeCron } from "../../../parts/triggers/cron.ts";

interface Trigger {
  kind: "Schedule" | "HTTP route" | "WebSocket";
  path: string;
  href: string;
  /** Trigger of the script: a cron expression in words, or an address. */
  what: string;
  /** The rule as it is stored. */
  title?: string;
  state: ReactNode;
}

const powerOf = (enabled: boolean) =>
  enabled ? (
    "on"
  ) : (
    <Badge size="sm" variant="default">
      off
    </Badge>
  );

/** Returns the state of a schedule; of one that the server disabled, with the reason. */
const describeScheduleState = ({ enabled, error, paused_until }: Schedule) => {
  if (error) {
    return (
      <Badge size="sm" variant="light" color="red" title={error}>
        failed
      </Badge>
    );
  }
  if (!enabled || !paused_until || Date.parse(paused_until) < Date.now()) return powerOf(enabled);
  return (
    <span>
      paused until <Moment at={paused_until} />
    </span>
  );
};

const triggersQuery = (workspace: string, kind: RunnableKind, path: string) =>
  queryOptions({
    queryKey: [workspace, "triggers", "of", kind, path],
    queryFn: ({ signal }) => {
      const query = { path, is_flow: kind === "flow", per_page: 100 };
      return Promise.all([
        callOperation("GET /w/{workspace}/schedules/list", { workspace, query }, signal),
        callOperation("GET /w/{workspace}/http_triggers/list", { workspace, query }, signal),
        callOperation("GET /w/{workspace}/websocket_triggers/list", { workspace, query }, signal),
      ]);
    },
  });

function toRows(
  workspace: string,
  [schedules, routes, sockets]: [Schedule[], HttpTrigger[], WebsocketTrigger[]],
): Trigger[] {
  return [
    ...schedules.map((each) => ({
      kind: "Schedule" as const,
      path: each.path,
      href: linkTo.schedule(workspace, each.path),
      what: `${describeCron(each.schedule) ?? each.schedule} (${each.timezone})`,
      title: each.schedule,
      state: describeScheduleState(each),
    })),
    ...routes.map((each) => ({
      kind: "HTTP route" as const,
      path: each.path,
      href: linkTo.route(workspace, each.path),
      what: `${each.http_method.toUpperCase()} ${each.workspaced_route ? `${workspace}/` : ""}${each.route_path}`,
      state: powerOf(each.enabled),
    })),
    ...sockets.map((each) => ({
      kind: "WebSocket" as const,
      path: each.path,
      href: linkTo.socket(workspace, each.path),
      what: each.url,
      state: <Connection trigger={each} />,
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
  const triggers = useQuery({ ...triggersQuery(workspace, kind, path), ...usePolling(10_000) });
  if (!triggers.data) {
    return triggers.error ? (
      <Problem error={triggers.error} retry={() => void triggers.refetch()} />
    ) : (
      <Loading />
    );
  }
  const rows = toRows(workspace, triggers.data);
  const search = `?${new URLSearchParams({ kind, path })}`;
  const buttons = may("POST /w/{workspace}/schedules/create", "author") && (
    <Group gap="xs" justify={rows.length === 0 ? "center" : "flex-start"}>
      <Button variant="default" component={Link} href={linkTo.newSchedule(workspace) + search}>
        New schedule
      </Button>
      <Button variant="default" component={Link} href={linkTo.newRoute(workspace) + search}>
        New HTTP route
      </Button>
      <Button variant="default" component={Link} href={linkTo.newSocket(workspace) + search}>
        New WebSocket trigger
      </Button>
    </Group>
  );
  if (rows.length === 0) {
    return (
      <Empty
        title="No triggers yet"
        action={buttons}
        command={buttons && `svc schedule create ${path} '0 7 * * *' --run ${path}`}
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
        rows={rows}
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
            cell: ({ kind, what, title }) => (
              <span className={kind === "Schedule" ? "" : "mono"} title={title}>
                {what}
              </span>
            ),
          },
          {
            name: "State",
            width: "8rem",
            cell: ({ state }) => state,
          },
        ]}
      />
      {buttons}
    </div>
  );
}
