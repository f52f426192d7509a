import { Badge, Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { WebsocketTrigger } from "../../../api/interface.d.ts";
import { useLive } from "../../../api/live.ts";
import { DataTable } from "../../../parts/DataTable.tsx";
import { Empty } from "../../../parts/Empty.tsx";
import { ItemName } from "../../../parts/items/ItemName.tsx";
import { OnlyFirst } from "../../../parts/items/OnlyFirst.tsx";
import { useMayWrite } from "../../../parts/items/rights.ts";
import { useSearch } from "../../../parts/items/Search.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to } from "../../../parts/places.ts";
import { connectionOf, MAX_SOCKETS, socketList, useSwitchSocket } from "./queries.ts";

/** @param create the button that makes one */
export function SocketList({ workspace, create }: { workspace: string; create: ReactNode }) {
  const list = useQuery({ ...socketList(workspace), ...useLive(10_000) });
  const mayWrite = useMayWrite(workspace);
  const change = useSwitchSocket(workspace);
  const [rows, field] = useSearch(
    "WebSocket triggers",
    "Search by name, path, address or script",
    list.data ?? [],
    ({ path, summary, script_path, url }) => `${path} ${summary ?? ""} ${script_path} ${url}`,
  );
  if (list.error && !list.data) return <Problem error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <Loading />;
  if (list.data.length === 0) {
    return (
      <Empty
        title="No WebSocket triggers yet"
        action={create}
        command="svc trigger websocket create wss://feed.example.org u/you/prices --run u/you/price"
      >
        A WebSocket trigger keeps a connection to a service that sends messages by itself, such as prices or
        events of a chat, and runs a script or flow for each of them.
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
          label="WebSocket triggers"
          rows={rows}
          keyOf={({ path }) => path}
          columns={[
            {
              name: "Trigger",
              width: "minmax(0, 1.2fr)",
              cell: ({ path, summary }) => (
                <ItemName href={to.socket(workspace, path)} path={path} summary={summary} />
              ),
            },
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
            {
              name: "On",
              width: "3rem",
              cell: ({ path, enabled, extra_perms }) => (
                <Switch
                  size="xs"
                  aria-label={`Trigger ${path} is on`}
                  checked={enabled}
                  disabled={!mayWrite(path, extra_perms) || change.isPending}
                  onChange={(event) => change.mutate({ path, enabled: event.currentTarget.checked })}
                />
              ),
            },
          ]}
        />
      )}
      <OnlyFirst max={MAX_SOCKETS} count={list.data.length} />
    </>
  );
}

function Connection({ trigger }: { trigger: WebsocketTrigger }) {
  const { word, color } = connectionOf(trigger);
  return (
    <Badge size="sm" variant="light" color={color} tt="none" title={trigger.error ?? undefined}>
      {word}
    </Badge>
  );
}
