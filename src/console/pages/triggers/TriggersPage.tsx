import { Button } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { useMay } from "../../api/session.ts";
import { PageHead } from "../../parts/elements/PageHead.tsx";
import { useTabs } from "../../parts/elements/TabBar.tsx";
import { linkTo, useWorkspace } from "../../parts/navigation/places.ts";
import { routesQuery } from "./routes/queries.ts";
import { RouteList } from "./routes/RouteList.tsx";
import { StoredList } from "./StoredList.tsx";
import { socketsQuery } from "./sockets/queries.ts";
import { SocketList } from "./sockets/SocketList.tsx";

/** HTTP routes, WebSocket triggers, and triggers of kinds that are stored and not run. */
export default function TriggersPage() {
  const workspace = useWorkspace();
  const may = useMay(workspace);
  const [tab, bar] = useTabs([
    { value: "routes", label: "HTTP routes" },
    { value: "websockets", label: "WebSockets" },
    { value: "others", label: "Other kinds" },
  ]);
  const isRoutes = tab === "routes";
  const isSockets = tab === "websockets";
  const routes = useQuery({ ...routesQuery(workspace), enabled: isRoutes }).data;
  const sockets = useQuery({ ...socketsQuery(workspace), enabled: isSockets }).data;
  const newRoute = may("POST /w/{workspace}/http_triggers/create", "author") && (
    <Button component={Link} href={linkTo.newRoute(workspace)} leftSection={<IconPlus size={16} />}>
      New HTTP route
    </Button>
  );
  const newSocket = may("POST /w/{workspace}/websocket_triggers/create", "author") && (
    <Button component={Link} href={linkTo.newSocket(workspace)} leftSection={<IconPlus size={16} />}>
      New WebSocket trigger
    </Button>
  );
  const [list, create] = isRoutes ? [routes, newRoute] : isSockets ? [sockets, newSocket] : [];
  return (
    <div className="page">
      <PageHead title="Triggers" about="HTTP requests and WebSocket messages that start scripts and flows.">
        {(list?.length ?? 0) > 0 && create}
      </PageHead>
      {bar}
      {isRoutes ? (
        <RouteList workspace={workspace} create={newRoute} />
      ) : isSockets ? (
        <SocketList workspace={workspace} create={newSocket} />
      ) : (
        <StoredList workspace={workspace} />
      )}
    </div>
  );
}
