import { Button, Group, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { callOperation } from "../../api/call.ts";
import type { Capture } from "../../api/interface.d.ts";
import { notifyError } from "../elements/Problem.tsx";
import { Moment } from "../elements/time.tsx";
import { linkTo, type RunnableKind } from "../navigation/places.ts";
import { ResultPanel } from "../runs/result/ResultPanel.tsx";
import { passArguments } from "./history-state/handover.ts";

/** Interval at which the server is notified that the user is still watching. */
const PING_MS = 10_000;
const POLL_MS = 1_500;

interface Props {
  workspace: string;
  kind: RunnableKind;
  path: string;
  base: string;
  /** Uses the arguments of a request; without it the run form opens with them. */
  take?: (args: Record<string, unknown>) => void;
  /** Text below the arguments of a request. */
  explain?: (args: Record<string, unknown>) => ReactNode;
}

const argumentsOf = ({ main_args }: Capture) => (main_args ?? {}) as Record<string, unknown>;

/** Shows captured requests, so that a sender can be tested before anything runs. */
export function Captures({ workspace, kind, path, base, take, explain }: Props) {
  const [isOn, setOn] = useState(false);
  const [, go] = useLocation();
  const captures = useQuery({
    queryKey: [workspace, "captures", kind, path],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/capture/list/{runnable_kind}/{path}",
        { workspace, runnable_kind: kind, path, query: { trigger_kind: "webhook", per_page: 5 } },
        signal,
      ),
    refetchInterval: isOn ? POLL_MS : false,
  }).data;
  useEffect(() => {
    if (!isOn) return;
    const input = { workspace, trigger_kind: "webhook", runnable_kind: kind, path };
    const ping = () =>
      void callOperation(
        "POST /w/{workspace}/capture/ping_config/{trigger_kind}/{runnable_kind}/{path}",
        input,
      ).catch(notifyError);
    ping();
    const timer = setInterval(ping, PING_MS);
    return () => clearInterval(timer);
  }, [isOn, workspace, kind, path]);
  const begin = async () => {
    try {
      await callOperation("POST /w/{workspace}/capture/set_config", {
        workspace,
        body: { trigger_kind: "webhook", path, is_flow: kind === "flow" },
      });
      setOn(true);
    } catch (error) {
      notifyError(error);
    }
  };
  /** Uses the arguments of a request: for the inputs of a flow, or for a run. */
  const use = (capture: Capture) => {
    const args = argumentsOf(capture);
    if (take) return take(args);
    const form = linkTo.begin(workspace, kind, path);
    passArguments(form, args);
    go(form);
  };
  const address = `${base}/api/w/${workspace}/capture_u/webhook/${kind}/${path}`;
  return (
    <section aria-label="Capture">
      <Title order={2} mb={4}>
        Capture a request
      </Title>
      <Text c="dimmed" mb="xs">
        Let the sender call this address for a while: nothing runs, and the request is shown here.
      </Text>
      <Group wrap="nowrap" align="flex-end" mb="sm">
        <TextInput readOnly aria-label="Capture address" value={address} style={{ flex: 1 }} />
        <Button variant="default" onClick={() => (isOn ? setOn(false) : void begin())}>
          {isOn ? "Stop" : "Capture"}
        </Button>
      </Group>
      {isOn && (captures ?? []).length === 0 && (
        <Text role="status" c="dimmed">
          Waiting for a request…
        </Text>
      )}
      <div className="stack">
        {(captures ?? []).map((capture) => (
          <div key={capture.id}>
            <Group justify="space-between" mb={4}>
              <Text c="dimmed">
                Received <Moment at={capture.created_at} />
              </Text>
              <Button size="xs" variant="default" onClick={() => use(capture)}>
                {take ? "Use for the inputs" : "Run with it"}
              </Button>
            </Group>
            <ResultPanel title="Arguments" workspace={workspace} value={capture.main_args} />
            {explain?.(argumentsOf(capture))}
          </div>
        ))}
      </div>
    </section>
  );
}
