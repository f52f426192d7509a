import { Alert, Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { WebsocketTrigger } from "../../../api/interface.d.ts";
import { useMayWrite } from "../../../api/item-rights.ts";
import { usePolling } from "../../../api/live.ts";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { AccessMenu } from "../../../parts/items/access/AccessMenu.tsx";
import { type Fact, FactList } from "../../../parts/items/FactList.tsx";
import { Target } from "../../../parts/items/Target.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { LastRuns } from "../../../parts/runs/LastRuns.tsx";
import { ResultPanel } from "../../../parts/runs/result/ResultPanel.tsx";
import { describeConnection } from "../../../parts/triggers/Connection.tsx";
import { describeRetry, readRetry } from "../RetryInput.tsx";
import { TriggerActions } from "../TriggerActions.tsx";
import { removeSocket, socketQuery, socketRunsQuery, useToggleSocket } from "./queries.ts";

/** A WebSocket trigger: its URL, connection state, and started runs. */
export default function SocketPage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const [isLeaving, setLeaving] = useState(false);
  const found = useQuery({ ...socketQuery(workspace, path), ...usePolling(5_000), enabled: !isLeaving });
  const mayWrite = useMayWrite(workspace);
  const change = useToggleSocket(workspace);
  const trigger = found.data;
  return (
    <div className="page">
      <PageHead
        title={trigger?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.sockets(workspace)} fz="sm">
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
            edit={linkTo.editSocket(workspace, path)}
            remove={() => removeSocket(workspace, path)}
            leave={setLeaving}
            back={linkTo.sockets(workspace)}
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
  const runs =
    useQuery({ ...socketRunsQuery(workspace, path, script_path), ...usePolling(10_000) }).data ?? [];
  const { word } = describeConnection(trigger);
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
  const retries = describeRetry(readRetry(trigger));
  if (retries && !is_flow) facts.splice(4, 0, ["Retry", retries]);
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
