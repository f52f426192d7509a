import { Badge } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usePolling } from "../../../api/live.ts";
import { linkTo } from "../../../parts/navigation/places.ts";
import { TriggerList } from "../TriggerList.tsx";
import { formatRouteLine, getAuthenticationLabel } from "./callers.ts";
import { MAX_ROUTES, routesQuery, useToggleRoute } from "./queries.ts";
import { useMayChangeRoute } from "./rights.ts";

/** List of HTTP routes. @param create the button that creates one */
export function RouteList({ workspace, create }: { workspace: string; create: ReactNode }) {
  const list = useQuery({ ...routesQuery(workspace), ...usePolling(10_000) });
  return (
    <TriggerList
      list={list}
      label="HTTP routes"
      noun="Route"
      at={(path) => linkTo.route(workspace, path)}
      textOf={({ route_path }) => route_path}
      mayChange={useMayChangeRoute(workspace)}
      change={useToggleRoute(workspace)}
      max={MAX_ROUTES}
      empty={{
        create,
        command:
          "svc trigger http create orders/:name u/you/orders --run u/you/script --method get --caller-token",
        about:
          "A route gives a script or flow an address of your choice, such as /orders/:id, for programs, forms and " +
          "services that call it. It can be open to everybody, or require a token, key, password or signature.",
      }}
      columns={[
        {
          name: "Address",
          width: "minmax(0, 1.2fr)",
          cell: (route) => <div className="clip mono">{formatRouteLine(workspace, route)}</div>,
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
                leftSection={<IconAlertTriangle size={12} aria-hidden />}
              >
                not served
              </Badge>
            ) : (
              <span className="quiet">{getAuthenticationLabel(authentication_method)}</span>
            ),
        },
      ]}
    />
  );
}
