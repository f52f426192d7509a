import { Anchor, Button, Group, SegmentedControl, Title } from "@mantine/core";
import { IconCircleCheck, IconCircleX, IconClock } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { callOperation } from "../../../api/call.ts";
import type { WebhookDelivery } from "../../../api/interface.d.ts";
import { parseJson } from "../../../api/json.ts";
import { usePolling } from "../../../api/live.ts";
import { useAction, useConfirmation } from "../../../parts/elements/actions.tsx";
import { DataTable } from "../../../parts/elements/DataTable.tsx";
import { Empty } from "../../../parts/elements/Empty.tsx";
import { Loading } from "../../../parts/elements/Loading.tsx";
import { Problem } from "../../../parts/elements/Problem.tsx";
import { Moment } from "../../../parts/elements/time.tsx";
import { useUrlParameters } from "../../../parts/navigation/use-url-parameters.ts";
import { ResultPanel } from "../../../parts/runs/result/ResultPanel.tsx";
import { type DeliveryState, deliveriesQuery, isFullPage } from "./queries.ts";

const STATES: Record<DeliveryState, { word: string; tone: string; Icon: typeof IconClock }> = {
  delivered: { word: "Delivered", tone: "good", Icon: IconCircleCheck },
  pending: { word: "Waiting", tone: "waiting", Icon: IconClock },
  failed: { word: "Failed", tone: "bad", Icon: IconCircleX },
};

/** Deliveries of an endpoint, newest first; the selected one is shown with its message. */
export function Deliveries({ workspace, id }: { workspace: string; id: string }) {
  const { get, set } = useUrlParameters();
  const chosen = get("state");
  const state = Object.hasOwn(STATES, chosen) ? (chosen as DeliveryState) : undefined;
  const before = Number(get("before")) || undefined;
  const list = useQuery({ ...deliveriesQuery(workspace, id, state, before), ...usePolling(5_000) });
  const { act, isPending } = useAction();
  const { ask, dialog } = useConfirmation();
  const redeliver = (event_seq: number) =>
    act(async () => {
      const body = { event_seq };
      await callOperation("POST /w/{workspace}/webhooks/redeliver/{id}", { workspace, id, body });
      return "It is sent again";
    });
  const redeliverAll = () =>
    ask({
      title: "Send failed events again?",
      text: "Each failed event is sent once more, in order.",
      label: "Send again",
      action: async () => {
        const { count } = await callOperation("POST /w/{workspace}/webhooks/redeliver/{id}", {
          workspace,
          id,
        });
        return count === 1 ? "One event is sent again" : `${count} events are sent again`;
      },
    });
  const shown = list.data?.find(({ event_seq }) => String(event_seq) === get("event"));
  return (
    <section aria-label="Deliveries" className="stack">
      <Group justify="space-between">
        <Title order={2}>Deliveries</Title>
        <Group gap="xs">
          <SegmentedControl
            size="xs"
            aria-label="Which deliveries"
            value={state ?? ""}
            data={[
              { value: "", label: "All" },
              ...Object.entries(STATES).map(([value, { word }]) => ({ value, label: word })),
            ]}
            onChange={(value) => set({ state: value, before: "", event: "" })}
          />
          <Button size="xs" variant="default" onClick={redeliverAll}>
            Send failed events again{" "}
          </Button>
        </Group>
      </Group>
      {list.error && !list.data ? (
        <Problem error={list.error} retry={() => void list.refetch()} />
      ) : !list.data ? (
        <Loading rows={3} />
      ) : list.data.length === 0 ? (
        <Empty title={state || before ? "Nothing matches" : "No deliveries yet"}>
          {state || before
            ? "Choose another state."
            : "Changes of scripts, flows, resources and variables are sent at once."}
        </Empty>
      ) : (
        <>
          <DataTable
            label="Deliveries"
            rows={list.data}
            keyOf={({ event_seq }) => String(event_seq)}
            columns={[
              { name: "State", width: "7rem", cell: (delivery) => <State of={delivery} /> },
              {
                name: "Event",
                width: "minmax(0, 1fr)",
                cell: ({ type, event_seq }) => (
                  <Anchor
                    component="button"
                    type="button"
                    fz="sm"
                    aria-expanded={shown?.event_seq === event_seq}
                    onClick={() => set({ event: shown?.event_seq === event_seq ? "" : String(event_seq) })}
                  >
                    {type}
                  </Anchor>
                ),
              },
              {
                name: "Response",
                width: "minmax(0, 1.2fr)",
                cell: ({ status, error }) => (
                  <div className="clip quiet" title={error ?? undefined}>
                    {[status, error].filter(Boolean).join(" · ") || "none yet"}
                  </div>
                ),
              },
              { name: "Attempts", width: "5rem", wideOnly: true, cell: ({ attempts }) => attempts },
              {
                name: "When",
                width: "7.5rem",
                cell: ({ last_attempt_at, created_at }) => <Moment at={last_attempt_at ?? created_at} />,
              },
              {
                name: "",
                width: "7rem",
                cell: ({ event_seq, type, state }) =>
                  state === "pending" ? null : (
                    <Button
                      size="xs"
                      variant="default"
                      loading={isPending}
                      aria-label={`Send ${type} ${event_seq} again`}
                      onClick={() => redeliver(event_seq)}
                    >
                      Send again
                    </Button>
                  ),
              },
            ]}
          />
          {isFullPage(list.data) && (
            <Group>
              <Button
                variant="default"
                onClick={() => set({ before: String(list.data.at(-1)!.event_seq), event: "" })}
              >
                Older ones
              </Button>
            </Group>
          )}
          {shown && <ResultPanel title="Message" workspace={workspace} value={messageOf(shown)} />}
        </>
      )}
      {dialog}
    </section>
  );
}

function messageOf({ payload }: WebhookDelivery): unknown {
  try {
    return parseJson(payload);
  } catch {
    return payload;
  }
}

function State({ of }: { of: WebhookDelivery }) {
  const { word, tone, Icon } = STATES[of.state];
  return (
    <span className="state" data-tone={tone}>
      <Icon size={16} aria-hidden />
      {word}
    </span>
  );
}
