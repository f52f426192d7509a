/** Converts records returned by the service to bodies of an update. */

/** Fields that the service computes; an update must not send them back. */
const COMPUTED_FIELDS = new Set([
  "archived",
  "created_at",
  "created_by",
  "deleted",
  "draft_only",
  "edited_at",
  "edited_by",
  "email",
  "enabled",
  "error",
  "extra_perms",
  "hash",
  "imports",
  "is_async",
  "last_server_ping",
  "lock_error_logs",
  "mode",
  "next_at",
  "parent_hashes",
  "requires_auth",
  "server_id",
  "starred",
  "version_id",
  "workspace_id",
]);

/** Returns the body of an update that changes only the given fields. Undefined changes are ignored. */
export function createUpdateBody(record: object, changes: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.entries(record).filter(([name]) => !COMPUTED_FIELDS.has(name));
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  return Object.fromEntries([...kept, ...given]);
}
