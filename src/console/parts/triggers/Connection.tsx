import { Badge } from "@mantine/core";
import type { WebsocketTrigger } from "../../api/interface.d.ts";

type Connected = Pick<WebsocketTrigger, "enabled" | "error" | "server_id">;

/** Returns whether a WebSocket trigger is connected, or why not. */
export function describeConnection({ enabled, error, server_id }: Connected): {
  word: string;
  color: string;
} {
  if (!enabled) return { word: "paused", color: "gray" };
  if (error) return { word: "not connected", color: "red" };
  return server_id ? { word: "connected", color: "green" } : { word: "connecting", color: "yellow" };
}

export function Connection({ trigger }: { trigger: Connected }) {
  const { word, color } = describeConnection(trigger);
  return (
    <Badge size="sm" variant="light" color={color} title={trigger.error ?? undefined}>
      {word}
    </Badge>
  );
}
