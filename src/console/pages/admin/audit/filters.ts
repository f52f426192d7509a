/** Filters of the audit log, as stored in the address. */
export interface AuditFilters {
  username: string;
  operation: string;
  resource: string;
  kind: "" | "Create" | "Update" | "Delete" | "Execute";
  after: string;
  before: string;
}

const NAMES = ["username", "operation", "resource", "kind", "after", "before"] as const;

export function parseAuditFilters(search: URLSearchParams): AuditFilters {
  return Object.fromEntries(NAMES.map((name) => [name, search.get(name) ?? ""])) as unknown as AuditFilters;
}

export const serializeAuditFilters = (filters: AuditFilters): Record<string, string> =>
  Object.fromEntries(NAMES.map((name) => [name, filters[name]]).filter(([, value]) => value !== ""));

/** Converts filters to the query of the API. Days are in the browser's time zone; the last day is included. */
export function toAuditQuery({ username, operation, resource, kind, after, before }: AuditFilters) {
  const end = before ? new Date(`${before}T00:00:00`) : undefined;
  end?.setDate(end.getDate() + 1);
  return {
    ...(username ? { username } : {}),
    ...(operation ? { operation } : {}),
    ...(resource ? { resource } : {}),
    ...(kind ? { action_kind: kind } : {}),
    ...(after ? { after: new Date(`${after}T00:00:00`).toISOString() } : {}),
    ...(end ? { before: end.toISOString() } : {}),
  };
}
