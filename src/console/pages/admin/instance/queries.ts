import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation, sendRequest } from "../../../api/call.ts";

export type Setting = Answer<"GET /settings/list_global">[number];
export type Alert = Answer<"GET /settings/critical_alerts">[number];
export type Workspace = Answer<"GET /workspaces/list_as_superadmin">[number];

/** Details of `/health` for users who run the instance. */
export interface Health {
  status: "ready" | "unready";
  checks?: { name: string; ok: boolean; detail: string }[];
  details?: {
    version: string;
    uptime_s: number;
    database: string;
    memory_bytes: number;
    database_bytes: number | null;
    disk_free_bytes: number | null;
    disk_low: boolean;
  };
}

export const healthQuery = queryOptions({
  queryKey: ["instance", "health"],
  // A response with status 503 describes the problem, so it is not an error.
  queryFn: async ({ signal }): Promise<Health> => (await sendRequest("GET /health", {}, signal, 503)).json(),
});

export const workersQuery = queryOptions({
  queryKey: ["instance", "workers"],
  queryFn: ({ signal }) => callOperation("GET /workers/list", { query: { per_page: 1_000 } }, signal),
});

export const queueCountsQuery = queryOptions({
  queryKey: ["instance", "queues"],
  queryFn: ({ signal }) => callOperation("GET /workers/queue_counts", {}, signal),
});

export const settingsQuery = queryOptions({
  queryKey: ["instance", "settings"],
  queryFn: ({ signal }) => callOperation("GET /settings/list_global", { query: { all: true } }, signal),
});

export const alertsQuery = queryOptions({
  queryKey: ["instance", "alerts"],
  queryFn: ({ signal }) =>
    callOperation("GET /settings/critical_alerts", { query: { page_size: 100 } }, signal),
});

export const accountsQuery = queryOptions({
  queryKey: ["instance", "accounts"],
  queryFn: ({ signal }) =>
    callOperation("GET /users/list_as_super_admin", { query: { per_page: 1_000 } }, signal),
});

export const workspacesQuery = queryOptions({
  queryKey: ["instance", "workspaces"],
  queryFn: ({ signal }) =>
    callOperation("GET /workspaces/list_as_superadmin", { query: { per_page: 1_000 } }, signal),
});

export const loginProvidersQuery = queryOptions({
  queryKey: ["instance", "logins"],
  queryFn: ({ signal }) => callOperation("GET /oauth/list_logins", {}, signal),
});

/** Empty without a valid license. */
export const licenseIdQuery = queryOptions({
  queryKey: ["instance", "license"],
  queryFn: ({ signal }) => callOperation("GET /ee_license", {}, signal),
});

export const latestRenewalQuery = queryOptions({
  queryKey: ["instance", "license-renewal"],
  queryFn: ({ signal }) => callOperation("GET /settings/latest_key_renewal_attempt", {}, signal),
});
