import { queryOptions } from "@tanstack/react-query";
import { callOperation, type Input } from "../../../api/call.ts";
import type { WebhookDelivery, WebhookEndpoint } from "../../../api/interface.d.ts";

export type EndpointFields = Input<"POST /w/{workspace}/webhooks/create">["body"];
export type EventType = NonNullable<EndpointFields["types"]>[number];
export type DeliveryState = WebhookDelivery["state"];

const PER_PAGE = 100;

export const endpointsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "webhooks", "list"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/webhooks/list", { workspace }, signal),
  });

/**
 * Loads a page of an endpoint's deliveries, newest first.
 * @param before `event_seq` of the last delivery on the previous page
 */
export const deliveriesQuery = (
  workspace: string,
  id: string,
  state: DeliveryState | undefined,
  before: number | undefined,
) =>
  queryOptions({
    queryKey: [workspace, "webhooks", "deliveries", id, state, before],
    queryFn: ({ signal }) => {
      const query = { state: state ?? null, before: before ?? null, per_page: PER_PAGE };
      return callOperation("GET /w/{workspace}/webhooks/deliveries/{id}", { workspace, id, query }, signal);
    },
  });

/** Whether a page is full, so that there may be more. */
export const isFullPage = (page: WebhookDelivery[]): boolean => page.length >= PER_PAGE;

/** Event types by subject. */
export const EVENT_GROUPS: { group: string; items: EventType[] }[] = [
  { group: "Scripts", items: ["CreateScript", "UpdateScript", "DeleteScript", "DeleteScriptPath"] },
  { group: "Flows", items: ["CreateFlow", "UpdateFlow", "ArchiveFlow", "DeleteFlow"] },
  { group: "Apps", items: ["CreateApp", "UpdateApp", "DeleteApp"] },
  {
    group: "Resources",
    items: [
      "CreateResource",
      "UpdateResource",
      "DeleteResource",
      "CreateResourceType",
      "UpdateResourceType",
      "DeleteResourceType",
    ],
  },
  { group: "Variables", items: ["CreateVariable", "UpdateVariable", "DeleteVariable"] },
  { group: "Folders", items: ["CreateFolder", "UpdateFolder", "DeleteFolder"] },
  { group: "Tokens", items: ["TokenExpiringSoon", "TokenExpired"] },
];

/** Returns the state of an endpoint, with the colour of its badge. */
export function getEndpointState({ enabled, failing_since }: WebhookEndpoint): {
  word: string;
  color: string;
} {
  if (!enabled) return { word: "paused", color: "gray" };
  return failing_since ? { word: "failing", color: "red" } : { word: "on", color: "green" };
}

/** Describes an endpoint's subscribed events in a few words. */
export function describeEvents({ types }: WebhookEndpoint): string {
  if (types === null) return "every change";
  return types.length <= 2
    ? types.join(", ")
    : `${types.slice(0, 2).join(", ")} and ${types.length - 2} more`;
}
