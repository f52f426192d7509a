import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useMayWrite } from "../../../api/item-rights.ts";
import { usePolling } from "../../../api/live.ts";
import { linkTo } from "../../../parts/navigation/places.ts";
import { Connection } from "../../../parts/triggers/Connection.tsx";
import { TriggerList } from "../TriggerList.tsx";
import { MAX_SOCKETS, socketsQuery, useToggleSocket } from "./queries.ts";

/** List of WebSocket triggers. @param create the button that creates one */
export function SocketList({ workspace, create }: { workspace: string; create: ReactNode }) {
  const list = useQuery({ ...socketsQuery(workspace), ...usePolling(10_000) });
  const mayWrite = useMayWrite(workspace);
  return (
    <TriggerList
      list={list}
      label="WebSocket triggers"
      noun="Trigger"
      at={(path) => linkTo.socket(workspace, path)}
      textOf={({ url }) => url}
      mayChange={({ path, extra_perms }) => mayWrite(path, extra_perms)}
      change={useToggleSocket(workspace)}
      max={MAX_SOCKETS}
      empty={{
        create,
        command: "svc trigger websocket create wss://feed.example.org u/you/prices --run u/you/price",
        about:
          "A WebSocket trigger keeps a connection to a service that sends messages by itself, such as prices or " +
          "events of a chat, and runs a script or flow for each of them.",
      }}
      columns={[
        {
          name: "Listens to",
          width: "minmax(0, 1.2fr)",
          cell: ({ url }) => <div className="clip mono">{url}</div>,
        },
        {
          name: "Runs",
          width: "minmax(0, 1fr)",
          wideOnly: true,
          cell: ({ script_path }) => <div className="clip mono quiet">{script_path}</div>,
        },
        { name: "State", width: "8rem", cell: (trigger) => <Connection trigger={trigger} /> },
      ]}
    />
  );
}
