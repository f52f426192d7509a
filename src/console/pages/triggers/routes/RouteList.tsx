import { Badge, Switch } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useLive } from "../../../api/live.ts";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Empty } from "../../../parts/Empty.tsx";
import { ItemName } from "../../../parts/items/ItemName.tsx";
import { OnlyFirst } from "../../../parts/items/OnlyFirst.tsx";
import { useSearch } from "../../../parts/items/Search.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to } from "../../../parts/places.ts";
import { callersOf, routeLine } from "./callers.ts";
import { MAX_ROUTES, routeList, useSwitchRoute } from "./queries.ts";
import { useMayChangeRoute } from "./rights.ts";

/** @param create the button that makes one */
export function RouteList({ workspace, create }: { workspace: string; create: ReactNode }) {
  const list = useQuery({ ...routeList(workspace), ...useLive(10_000) });
  const mayChange = useMayChangeRoute(workspace);
  const change = useSwitchRoute(workspace);
  const [rows, field] = useSearch(
    "HTTP routes",
    "Search by name, path, address or script",
    list.data ?? [],
    ({ path, summary, script_path, route_path }) => `${path} ${summary ?? ""} ${script_path} ${route_path}`,
  );
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  if (list.data.length === 0) {
    return (
      <Empty
        title="No HTTP routes yet"
        action={create}
        command="svc trigger http create orders/:name u/you/orders --run u/you/script --method get"
      >
        A route gives a script or flow an address of your choice, such as /orders/:id, for programs, forms and
        services that call it. You decide whether everybody may, or who proves who they are.
      </Empty>
    );
  }
  return (
    <>
      {field}
      {rows.length === 0 ? (
        <Empty title="Nothing matches">Change the search.</Empty>
      ) : (
        <DataTable
          label="HTTP routes"
          rows={rows}
          keyOf={({ path }) => path}
          columns={[
            {
              name: "Route",
              width: "minmax(0, 1.2fr)",
              cell: ({ path, summary }) => (
                <ItemName href={to.route(workspace, path)} path={path} summary={summary} />
              ),
            },
            {
              name: "Address",
              width: "minmax(0, 1.2fr)",
              cell: (route) => <div className="clip mono">{routeLine(workspace, route)}</div>,
            },
            {
              name: "Runs",
              width: "minmax(0, 1fr)",
              wideOnly: true,
              cell: ({ script_path, static_asset_config }) => (
                <div className="clip mono quiet">{static_asset_config ? "files" : script_path}</div>
              ),
            },
            {
              name: "Who may call it",
              width: "10rem",
              cell: ({ authentication_method, error, enabled }) =>
                enabled && error ? (
                  <Badge
                    size="sm"
                    color="red"
                    variant="light"
                    tt="none"
                    leftSection={<IconAlertTriangle size={12} aria-hidden />}
                  >
                    not served
                  </Badge>
                ) : (
                  <span className="quiet">{callersOf(authentication_method)}</span>
                ),
            },
            {
              name: "On",
              width: "3rem",
              cell: (route) => (
                <Switch
                  size="xs"
                  aria-label={`Route ${route.path} is on`}
                  checked={route.enabled}
                  disabled={!mayChange(route) || change.isPending}
                  onChange={(event) =>
                    change.mutate({ path: route.path, enabled: event.currentTarget.checked })
                  }
                />
              ),
            },
          ]}
        />
      )}
      <OnlyFirst max={MAX_ROUTES} count={list.data.length} />
    </>
  );
}
