import { queryOptions } from "@tanstack/react-query";
import { type Answer, ask, call } from "../../../api/call.ts";

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

export const health = queryOptions({
  queryKey: ["instance", "health"],
  // A response with status 503 describes the problem, so it is not an error.
  queryFn: async ({ signal }): Promise<Health> => (await ask("GET /health", {}, signal, 503)).json(),
});

export const workerList = queryOptions({
  queryKey: ["instance", "workers"],
  queryFn: ({ signal }) => call("GET /workers/list", { query: { per_page: 1_000 } }, signal),
});

export const queueCounts = queryOptions({
  queryKey: ["instance", "queues"],
  queryFn: ({ signal }) => call("GET /workers/queue_counts", {}, signal),
});

export const settingList = queryOptions({
  queryKey: ["instance", "settings"],
  queryFn: ({ signal }) => call("GET /settings/list_global", { query: { all: true } }, signal),
});

export const alertList = queryOptions({
  queryKey: ["instance", "alerts"],
  queryFn: ({ signal }) => call("GET /settings/critical_alerts", { query: { page_size: 100 } }, signal),
});

export const accountList = queryOptions({
  queryKey: ["instance", "accounts"],
  queryFn: ({ signal }) => call("GET /users/list_as_super_admin", { query: { per_page: 1_000 } }, signal),
});

export const workspaceList = queryOptions({
  queryKey: ["instance", "workspaces"],
  queryFn: ({ signal }) => call("GET /workspaces/list_as_superadmin", { query: { per_page: 1_000 } }, signal),
});

export const loginList = queryOptions({
  queryKey: ["instance", "logins"],
  queryFn: ({ signal }) => call("GET /oauth/list_logins", {}, signal),
});

/** Empty without a valid license. */
export const licenseId = queryOptions({
  queryKey: ["instance", "license"],
  queryFn: ({ signal }) => call("GET /ee_license", {}, signal),
});

export const latestRenewal = queryOptions({
  queryKey: ["instance", "license-renewal"],
  queryFn: ({ signal }) => call("GET /settings/latest_key_renewal_attempt", {}, signal),
});
