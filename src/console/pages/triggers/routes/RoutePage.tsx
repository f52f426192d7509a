import { Alert, Anchor, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useParams } from "wouter";
import type { HttpTrigger } from "../../../api/interface.d.ts";
import { usePolling } from "../../../api/live.ts";
import { Copied, getConsoleUrl } from "../../../parts/calling/Address.tsx";
import { CallExample } from "../../../parts/calling/CallExample.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { PageHead } from "../../../parts/elements/PageHead.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { AccessMenu } from "../../../parts/items/access/AccessMenu.tsx";
import { type Fact, FactList } from "../../../parts/items/FactList.tsx";
import { Target } from "../../../parts/items/Target.tsx";
import { linkTo, useWorkspace } from "../../../parts/navigation/places.ts";
import { LastRuns } from "../../../parts/runs/LastRuns.tsx";
import { describeRetry, readRetry } from "../RetryInput.tsx";
import { TriggerActions } from "../TriggerActions.tsx";
import {
  createExampleRequest,
  formatRouteLine,
  formatRoutePath,
  getAuthenticationLabel,
  REQUEST_TYPES,
} from "./callers.ts";
import { removeRoute, routeQuery, routeRunsQuery, useToggleRoute } from "./queries.ts";
import { useMayChangeRoute } from "./rights.ts";

/** An HTTP route: its URL, its callers, and a request to test it. */
export default function RoutePage() {
  const workspace = useWorkspace();
  const { "*": path = "" } = useParams<{ "*": string }>();
  const [isLeaving, setLeaving] = useState(false);
  const found = useQuery({ ...routeQuery(workspace, path), ...usePolling(10_000), enabled: !isLeaving });
  const mayChange = useMayChangeRoute(workspace);
  const change = useToggleRoute(workspace);
  const route = found.data;
  return (
    <div className="page">
      <PageHead
        title={route?.summary || path}
        above={
          <Anchor component={Link} href={linkTo.triggers(workspace)} fz="sm">
            HTTP routes
          </Anchor>
        }
        about={route && <span className="mono">{formatRouteLine(workspace, route)}</span>}
      >
        {route && mayChange(route) && (
          <TriggerActions
            noun="route"
            path={path}
            enabled={route.enabled}
            isSwitching={change.isPending}
            setEnabled={(enabled) => change.mutate({ path, enabled })}
            edit={linkTo.editRoute(workspace, path)}
            remove={() => removeRoute(workspace, path)}
            leave={setLeaving}
            back={linkTo.triggers(workspace)}
          />
        )}
        {route && <AccessMenu workspace={workspace} kind="http_trigger" path={path} />}
      </PageHead>
      {route ? (
        <Shown workspace={workspace} route={route} />
      ) : found.error ? (
        <Problem error={found.error} retry={() => void found.refetch()} />
      ) : (
        <Loading />
      )}
    </div>
  );
}

function Shown({ workspace, route }: { workspace: string; route: HttpTrigger }) {
  const { path, script_path, is_flow, enabled, error, static_asset_config, authentication_method } = route;
  const isServingFiles = static_asset_config !== null && static_asset_config !== undefined;
  const runs = useQuery({
    ...routeRunsQuery(workspace, path, script_path),
    ...usePolling(10_000),
    enabled: !isServingFiles,
  });
  const facts: Fact[] = [
    ["State", enabled ? "On" : "Paused"],
    isServingFiles
      ? ["Serves", `files of the storage, ${static_asset_config.s3 || "all"}`]
      : [
          is_flow ? "Flow" : "Script",
          <Target key="" workspace={workspace} path={script_path} isFlow={is_flow} />,
        ],
    ["Who may call it", getAuthenticationLabel(authentication_method)],
    ["Response", REQUEST_TYPES.find(({ value }) => value === route.request_type)!.label],
    ["Path", path],
    ["Runs as", route.email],
    ["Last edited", <Moment key="" at={route.edited_at} />],
  ];
  const retries = describeRetry(readRetry(route));
  if (retries && !is_flow && !isServingFiles) facts.splice(4, 0, ["Retry", retries]);
  const secret = route.authentication_resource_path ?? route.signature?.secret;
  if (secret) facts.splice(3, 0, ["Secret", secret]);
  return (
    <div className="stack">
      {enabled && error && (
        <Alert color="red" variant="light" title="It is not served">
          {error}
        </Alert>
      )}
      {route.description && <p className="wrap">{route.description}</p>}
      <FactList facts={facts} />
      <Copied label="Address of the route" value={getConsoleUrl() + formatRoutePath(workspace, route)} />
      <section aria-label="Try it" className="stack">
        <Title order={2}>Try it</Title>
        {authentication_method === "signature" ? (
          <Text c="dimmed">
            Only the service that knows the secret can call it: give it the address above, and let it send a
            test.
          </Text>
        ) : (
          <CallExample request={createExampleRequest(workspace, route)} />
        )}
      </section>
      {!isServingFiles && <LastRuns workspace={workspace} runs={runs.data ?? []} />}
    </div>
  );
}
