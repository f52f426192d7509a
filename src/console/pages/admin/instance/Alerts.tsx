import { Anchor, Badge, Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "wouter";
import { callOperation } from "../../../api/call.ts";
import { isRecord } from "../../../api/json.ts";
import { usePolling } from "../../../api/live.ts";
import { useMay } from "../../../api/session.ts";
import { useAction } from "../../../parts/elements/actions.tsx";
import { type Column, DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { type Alert, alertsQuery, settingsQuery } from "./queries.ts";

/** The setting that names where alerts are sent. */
const CHANNELS = "critical_error_channels";

export function Alerts() {
  const alerts = useQuery({ ...alertsQuery, ...usePolling(15_000) });
  const may = useMay();
  const { act } = useAction();
  const mayAnswer = may("POST /settings/critical_alerts/{id}/acknowledge", "superAdmin");
  const channels = useChannels();
  const trial = mayAnswer && channels !== undefined && channels.length > 0 && <TrialAlert />;
  if (alerts.error) return <Problem error={alerts.error} retry={() => void alerts.refetch()} />;
  if (!alerts.data) return <Loading />;
  if (alerts.data.length === 0) {
    return (
      <Empty
        title="No alerts"
        command={mayAnswer && `svc config set ${CHANNELS} '[{"email":"ops@example.org"}]'`}
        action={trial}
      >
        Problems that need attention are listed here: a lost worker, a full disk, a schedule that cannot run.{" "}
        <Channels channels={channels} />
      </Empty>
    );
  }
  const acknowledge = (id: number) =>
    act(async () => {
      await callOperation("POST /settings/critical_alerts/{id}/acknowledge", { id: String(id) });
      return undefined;
    });
  const columns: Column<Alert>[] = [
    { name: "When", width: "8rem", cell: ({ last_raised_at }) => <Moment at={last_raised_at} /> },
    {
      name: "What",
      width: "minmax(0, 3fr)",
      cell: ({ message, count, workspace_id, send_failures }) => (
        <>
          <div>{message}</div>
          <Group gap={6} className="quiet">
            {workspace_id}
            {count > 1 && <span>{count} times</span>}
            {send_failures && (
              <Badge size="xs" color="red" variant="light">
                could not be sent to {send_failures.map(({ channel }) => channel).join(", ")}
              </Badge>
            )}
          </Group>
        </>
      ),
    },
    {
      name: "",
      width: "9rem",
      cell: ({ id, acknowledged }) =>
        acknowledged ? (
          <span className="quiet">seen</span>
        ) : (
          mayAnswer && (
            <Button size="xs" variant="default" onClick={() => acknowledge(id)}>
              Mark as seen
            </Button>
          )
        ),
    },
  ];
  return (
    <>
      <p className="quiet wrap">
        <Channels channels={channels} />
      </p>
      {mayAnswer && (
        <Group justify="flex-end" mb="sm">
          {trial}
          <Button
            variant="default"
            disabled={alerts.data.every(({ acknowledged }) => acknowledged)}
            onClick={() =>
              act(async () => {
                await callOperation("POST /settings/critical_alerts/acknowledge_all", {});
                return undefined;
              })
            }
          >
            Mark all as seen
          </Button>
        </Group>
      )}
      <DataTable label="Alerts" columns={columns} rows={alerts.data} keyOf={({ id }) => String(id)} />
    </>
  );
}

type Channel = Record<string, unknown>;

/** Returns the channels to which alerts are sent; undefined until they are known. */
function useChannels(): Channel[] | undefined {
  const settings = useQuery(settingsQuery).data;
  const value = settings?.find(({ name }) => name === CHANNELS)?.value;
  return settings && (Array.isArray(value) ? value : []).filter(isRecord);
}

/** A sentence with the channels to which alerts are sent. */
function Channels({ channels }: { channels: Channel[] | undefined }) {
  const { workspace } = useParams<{ workspace: string }>();
  if (!channels) return null;
  const told = channels.flatMap((channel) => Object.values(channel).map(String));
  return (
    <>
      {told.length > 0
        ? `Also sent to ${told.join(", ")}: see the setting `
        : "Shown here only. To send alerts to e-mail or a chat, add channels to the setting "}
      <Anchor
        component={Link}
        href={`/w/${workspace}/instance?tab=settings&q=${CHANNELS}`}
        inherit
        underline="always"
      >
        {CHANNELS}
      </Anchor>
      .
    </>
  );
}

/** Sends a test alert to each channel, so that a wrong configuration is noticed in time. */
function TrialAlert() {
  const { act, isPending } = useAction();
  const send = async () => {
    // As they are stored: the list of settings masks their secrets.
    const channels = await callOperation("GET /settings/global/{key}", { key: CHANNELS });
    return callOperation("POST /settings/test_critical_channels", { body: channels as unknown[] });
  };
  return (
    <Button variant="default" loading={isPending} onClick={() => act(send)}>
      Send a test alert to each channel
    </Button>
  );
}
