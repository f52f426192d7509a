import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { WebsocketTrigger } from "../../../api/interface.d.ts";
import { useLive } from "../../../api/live.ts";
import { AccessMenu } from "../../../parts/access/AccessMenu.tsx";
import { type Fact, FactList } from "../../../parts/items/FactList.tsx";
import { LastRuns } from "../../../parts/items/LastRuns.tsx";
import { useMayWrite } from "../../../parts/items/rights.ts";
import { Target } from "../../../parts/items/Target.tsx";
import { Loading } from "../../../parts/Loading.tsx";
import { PageHead } from "../../../parts/PageHead.tsx";
import { Problem } from "../../../parts/Problem.tsx";
import { to, useWorkspace } from "../../../parts/places.ts";
import { ResultPanel } from "../../../parts/result/ResultPanel.tsx";
import { Moment } from "../../../parts/time.tsx";
import { connectionOf } from "../../../parts/triggers/Connection.tsx";
import { TriggerActions } from "../TriggerActions.tsx";
import { oneSocket, removeSocket, socketRuns, useSwitchSocket } from "./queries.ts";

/** A WebSocket trigger: its URL, connection state, and started runs. */
export default function SocketPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const [isLeaving, setLeaving] = useState(false);
  const found = useQuery({ ...oneSocket(workspace, path), ...useLive(5_000), enabled: !isLeaving });
  const mayWrite = useMayWrite(workspace);
  const change = useSwitchSocket(workspace);
  const trigger = found.data;
  return (
    <div className="page">
      <PageHead
        title={trigger?.summary || path}
        above={
          <Anchor component={Link} href={to.sockets(workspace)} fz="sm">
            WebSockets
          </Anchor>
        }
        about={trigger && <span className="mono">{trigger.url}</span>}
      >
        {trigger && mayWrite(path, trigger.extra_perms) && (
          <TriggerActions
            noun="trigger"
            path={path}
            enabled={trigger.enabled}
            isSwitching={change.isPending}
            setEnabled={(enabled) => change.mutate({ path, enabled })}
            edit={to.editSocket(workspace, path)}
            remove={() => removeSocket(workspace, path)}
            leave={setLeaving}
            back={to.sockets(workspace)}
          />
        )}
        {trigger && <AccessMenu workspace={workspace} kind="websocket_trigger" path={path} />}
      </PageHead>
      {trigger ? (
        <Shown workspace={workspace} trigger={trigger} />
      ) : found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

function Shown({ workspace, trigger }: { workspace: string; trigger: WebsocketTrigger }) {
  const { path, script_path, is_flow, enabled, error, last_server_ping, filters, initial_messages } = trigger;
  const runs = useQuery({ ...socketRuns(workspace, path, script_path), ...useLive(10_000) }).data ?? [];
  const { word } = connectionOf(trigger);
  const isFiltered = filters.length > 0;
  const isSending = initial_messages.length > 0;
  const facts: Fact[] = [
    ["State", word.charAt(0).toUpperCase() + word.slice(1)],
    [
      is_flow ? "Flow" : "Script",
      <Target key="" workspace={workspace} path={script_path} isFlow={is_flow} />,
    ],
    ["Runs for", isFiltered ? "messages that pass the filter" : "every message"],
    ["Sends results back", trigger.can_return_message ? "yes" : "no"],
    ["Path", path],
    ["Runs as", trigger.email],
    ["Last edited", <Moment key="" at={trigger.edited_at} />],
  ];
  if (enabled && last_server_ping)
    facts.splice(1, 0, ["Last heartbeat", <Moment key="" at={last_server_ping} />]);
  return (
    <div className="stack">
      {enabled && error && (
        <Alert color="red" variant="light" title="Not connected; it reconnects automatically">
          {error}
        </Alert>
      )}
      <FactList facts={facts} />
      {(isFiltered || isSending) && (
        <div className="two">
          {isFiltered && (
            <ResultPanel
              title="Only messages with"
              workspace={workspace}
              value={Object.fromEntries(filters.map(({ key, value }) => [key, value]))}
            />
          )}
          {isSending && (
            <ResultPanel title="Sent when it connects" workspace={workspace} value={initial_messages} />
          )}
        </div>
      )}
      <LastRuns workspace={workspace} runs={runs} />
    </div>
  );
}
