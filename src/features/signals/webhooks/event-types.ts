/** Webhook event types, and how they are derived from audited changes. */

/** Pseudo workspace id for events of the instance. */
export const INSTANCE_WORKSPACE = "global";

export const EVENT_TYPES = [
  "CreateScript",
  "UpdateScript",
  "DeleteScript",
  "DeleteScriptPath",
  "CreateFlow",
  "UpdateFlow",
  "ArchiveFlow",
  "DeleteFlow",
  "CreateApp",
  "UpdateApp",
  "DeleteApp",
  "CreateResource",
  "UpdateResource",
  "DeleteResource",
  "CreateResourceType",
  "UpdateResourceType",
  "DeleteResourceType",
  "CreateVariable",
  "UpdateVariable",
  "DeleteVariable",
  "CreateFolder",
  "UpdateFolder",
  "DeleteFolder",
  "TokenExpiringSoon",
  "TokenExpired",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

export interface WebhookEvent {
  type: string;
  /** Fields of the payload besides the type. */
  keys: Record<string, string>;
}

/** The part of an audit row from which an event is derived. */
export interface AuditedChange {
  operation: string;
  workspace_id: string;
  /** The path, name or hash that was changed. */
  resource: string;
  parameters: Record<string, string>;
}

type EventFactory = (change: AuditedChange) => WebhookEvent;

const pathEvent =
  (type: EventType): EventFactory =>
  ({ workspace_id: workspace, resource: path }) => ({ type, keys: { workspace, path } });

/** A rename contains the old and the new path; for other changes both are the same. */
const movedEvent =
  (type: EventType): EventFactory =>
  ({ workspace_id: workspace, resource, parameters: { old_path, new_path } }) => ({
    type,
    keys: { workspace, old_path: old_path ?? resource, new_path: new_path ?? resource },
  });

const versionEvent =
  (type: EventType): EventFactory =>
  ({ workspace_id: workspace, resource: path, parameters: { hash = "" } }) => ({
    type,
    keys: { workspace, path, hash },
  });

const namedEvent =
  (type: EventType): EventFactory =>
  ({ workspace_id: workspace, resource: name }) => ({ type, keys: { workspace, name } });

const typeEvent =
  (type: EventType): EventFactory =>
  ({ resource: name }) => ({ type, keys: { name } });

/** A path means that all versions were deleted, a hash only that version. */
const scriptDeletedEvent: EventFactory = (change) =>
  change.resource.includes("/")
    ? pathEvent("DeleteScriptPath")(change)
    : { type: "DeleteScript", keys: { workspace: change.workspace_id, hash: change.resource } };

const EVENTS_BY_OPERATION: Record<string, EventFactory> = {
  "scripts.create": versionEvent("CreateScript"),
  "scripts.update": versionEvent("UpdateScript"),
  "scripts.archive": scriptDeletedEvent,
  "scripts.delete": scriptDeletedEvent,
  "flows.create": pathEvent("CreateFlow"),
  "flows.update": movedEvent("UpdateFlow"),
  "flows.archive": pathEvent("ArchiveFlow"),
  "flows.delete": pathEvent("DeleteFlow"),
  "apps.create": pathEvent("CreateApp"),
  "apps.update": movedEvent("UpdateApp"),
  "apps.delete": pathEvent("DeleteApp"),
  "resources.create": pathEvent("CreateResource"),
  "resources.update": movedEvent("UpdateResource"),
  "resources.delete": pathEvent("DeleteResource"),
  "resource_types.create": typeEvent("CreateResourceType"),
  "resource_types.update": typeEvent("UpdateResourceType"),
  "resource_types.delete": typeEvent("DeleteResourceType"),
  "variables.create": pathEvent("CreateVariable"),
  "variables.update": movedEvent("UpdateVariable"),
  "variables.delete": pathEvent("DeleteVariable"),
  "folder.create": namedEvent("CreateFolder"),
  "folder.update": namedEvent("UpdateFolder"),
  "folder.add_owner": namedEvent("UpdateFolder"),
  "folder.remove_owner": namedEvent("UpdateFolder"),
  "folder.delete": namedEvent("DeleteFolder"),
};

/** Returns the event for a change; undefined if the change has none. */
export function findEvent(change: AuditedChange): WebhookEvent | undefined {
  return EVENTS_BY_OPERATION[change.operation]?.(change);
}
